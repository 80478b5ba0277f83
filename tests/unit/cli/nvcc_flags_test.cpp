// Which flags a replay gives to nvcc. Each that is refused has a neighbour that is not.
#include "cli/compile/nvcc_flags.h"
#include "cli/file.h"

#include <gtest/gtest.h>

namespace heddle::cli {
namespace {

bool allowed(std::string_view line) {
  return check_replay_flags(split_words(line).value()).has_value();
}

TEST(NvccFlags, WhatSaysWhatIsCompiledIsAllowed) {
  for (const char* line :
       {"",
        "-O2 -DN=4 -UM -Iinclude -I include -isystem /usr/include -include x.h",
        "-O 3 --optimize=1 -O0",
        "-std=c++17 -std c++20 --std=c++17",
        "-arch=sm_80 -gencode arch=compute_80,code=sm_80 -gencode=arch=compute_90,code=compute_90",
        "-G -g -lineinfo -rdc=true --relocatable-device-code true",
        "-Xcompiler -fopenmp,-Wall,-O2 -Xcompiler=-march=native --compiler-options -DX=1",
        "-Xptxas -O1,-dlcm=cg -Xcudafe --diag_suppress=177",
        "--use_fast_math -ftz=true -fmad false -maxrregcount 32 -default-stream=per-thread",
        "-lcublas -L/usr/lib -L /usr/lib -l m",
        "other.cu more.cpp part.o all.a",
        "'-DNAME=\"a (b)\"' -D 'X=f(1)' -Wno-deprecated-gpu-targets -w"}) {
    EXPECT_TRUE(allowed(line)) << line;
  }
}

TEST(NvccFlags, WhatStartsOrLoadsAProgramIsRefused) {
  for (const char* line :
       {"-ccbin evil",
        "-ccbin=evil",
        "--compiler-bindir evil",
        "--compiler-bindir=evil",
        "-Xcompiler -Bevil",
        "-Xcompiler -wrapper,evil",
        "-Xcompiler -fplugin=evil.so",
        "-Xcompiler -specs=evil",
        "-Xcompiler -fuse-ld=evil",
        "-Xcompiler -Wl,-plugin",
        "-Xcompiler -Wa,x",
        "-Xcompiler -fopenmp,-Bevil",
        "-Xcompiler=-Bevil",
        "-Xlinker -plugin=evil.so",
        "-Xnvlink x",
        "-Xarchive x",
        "-Xptxas --options-file=evil",
        "-Xptxas -v,-optf",
        "-Xcudafe --x",
        "-run",
        "--run",
        "-run-args x",
        "--options-file evil",
        "-optf evil",
        "-ldir evil",
        "-libdevice-directory=evil",
        "-ldir=evil",
        "--dryrun",
        "-keep",
        "-keep-dir x",
        "-idp x",
        "-cudadevrt none",
        "-nvvm x",
        "-forward-unknown-to-host-compiler -Bevil",
        "-forward-unknown-opts",
        "-x cu",
        "-odir x",
        "-objtemp",
        "-Ofast-compile=max",
        "@evil",
        "evil.sh",
        "--"}) {
    EXPECT_FALSE(allowed(line)) << line;
  }
}

TEST(NvccFlags, AnOptionIsNoValue) {
  for (const char* line :
       {"-I -ccbin=evil",
        "-D -ccbin=evil",
        "-include -ccbin=evil",
        "-std -ccbin=evil",
        "-O -ccbin",
        "-I",
        "-Xcompiler",
        "-I @evil",
        "-I=",
        "-Xcompiler="}) {
    EXPECT_FALSE(allowed(line)) << line;
  }
}

TEST(NvccFlags, NothingIsForAShell) {
  for (const char* line :
       {"'-DX=$(evil)'",
        "'-DX=`evil`'",
        "'-DX=\\'",
        "'-DX=1;evil'",
        "'-DX=1&evil'",
        "'-DX=a\nevil'",
        "'-I$(evil)'",
        "'-Ix;evil'",
        "'-lx;evil'",
        "'-lx|evil'",
        "'-L>evil'",
        "'-Xptxas=-v;evil'",
        "'-Xcompiler' '-DX;evil'",
        "'-Xcompiler' '-DX -Bevil'",
        "'-Xcompiler' '-D\"X\"'",
        "'-std=c++17;evil'",
        "'x`evil`.cu'",
        "'x;evil.cu'",
        "'-I a b'"}) {
    EXPECT_FALSE(allowed(line)) << line;
  }
  EXPECT_TRUE(is_for_shell("$(evil).cu"));
  EXPECT_TRUE(is_for_shell("`evil`.cu"));
  EXPECT_TRUE(is_for_shell("x\".cu"));
  EXPECT_FALSE(is_for_shell("a folder/it's (one); more.cu")); // in quotes of nvcc's
}

TEST(NvccFlags, TheMessageNamesTheFlagAndNoTerminalObeysIt) {
  const auto refused = check_replay_flags(std::vector<std::string>{"-O1", "-ccbin\x1b[2J"});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("'-ccbin\\x1b[2J'"), std::string::npos)
      << refused.error().message;
}

} // namespace
} // namespace heddle::cli
