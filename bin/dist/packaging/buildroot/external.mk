include $(sort $(wildcard $(BR2_EXTERNAL_LATENCY_BENCH_PATH)/package/*/*.mk))
