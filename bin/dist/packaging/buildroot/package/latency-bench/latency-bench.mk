################################################################################
#
# latency-bench
#
################################################################################

LATENCY_BENCH_VERSION = @VERSION@
LATENCY_BENCH_SOURCE = latency-bench-$(LATENCY_BENCH_VERSION)-$(ARCH)-linux.tar.gz
# The directory of the release, in which this tree was unpacked.
LATENCY_BENCH_SITE = $(abspath $(BR2_EXTERNAL_LATENCY_BENCH_PATH)/../..)
LATENCY_BENCH_SITE_METHOD = file
LATENCY_BENCH_LICENSE = MIT or Apache-2.0
LATENCY_BENCH_LICENSE_FILES = share/doc/latency-bench/LICENSE-MIT share/doc/latency-bench/LICENSE-APACHE
# The executable is built, and needs no library.
LATENCY_BENCH_ADD_TOOLCHAIN_DEPENDENCY = NO

define LATENCY_BENCH_INSTALL_TARGET_CMDS
	$(INSTALL) -D -m 0755 $(@D)/bin/latency-bench $(TARGET_DIR)/usr/bin/latency-bench
endef

$(eval $(generic-package))
