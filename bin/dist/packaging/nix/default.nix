{
  pkgs ? import <nixpkgs> { },
}:
let
  inherit (pkgs) lib stdenvNoCC;
  archive = machine: ../.. + "/latency-bench-@VERSION@-${machine}-linux.tar.gz";
in
stdenvNoCC.mkDerivation {
  pname = "latency-bench";
  version = "@VERSION@";
  src =
    {
      x86_64-linux = archive "x86_64";
      aarch64-linux = archive "aarch64";
    }
    .${stdenvNoCC.hostPlatform.system} or (throw "latency-bench is for x86_64-linux and aarch64-linux");
  dontConfigure = true;
  dontBuild = true;
  # Profilers find the loops by their symbols.
  dontStrip = true;
  installPhase = ''
    mkdir -p $out
    cp -r bin share $out/
  '';
  meta = {
    description = "@DESCRIPTION@";
    license = with lib.licenses; [
      mit
      asl20
    ];
    mainProgram = "latency-bench";
    platforms = [
      "x86_64-linux"
      "aarch64-linux"
    ];
  };
}
