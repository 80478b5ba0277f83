// What heddle-cc makes of command lines: flags are added, and nothing is taken away but -dlto.
#include "cli/launcher/command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace heddle::cli {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsSupersetOf;
using testing::Not;

using Words = std::vector<std::string>;

TEST(Launcher, LinkTimeOptimisationIsLeftOut) {
  EXPECT_THAT(rewrite({"nvcc", "-dlto", "-dc", "a.cu"}, "/lib").command, Not(Contains("-dlto")));
  EXPECT_THAT(rewrite({"nvcc", "-dlto", "a.o"}, "/lib").command, ElementsAre("nvcc", "a.o"));
  EXPECT_THAT(rewrite({"g++", "-dlto", "a.o"}, "/lib").command, Contains("-dlto"));
}

TEST(Launcher, CompilingToAnObjectInstrumentsAndAddsTheStub) {
  const Words command = {"/usr/bin/nvcc", "-DX=a b", "-x", "cu", "-c", "a.cu", "-o", "dir/a.o"};
  const Rewritten r = rewrite(command, "/lib");
  EXPECT_EQ(r.object, "dir/a.o");
  EXPECT_THAT(
      r.command,
      ElementsAre(
          "/usr/bin/nvcc",
          "-lineinfo",
          "-Xcompiler",
          "-fsanitize=thread",
          "-Xcompiler",
          "-g",
          "-Xcompiler",
          "--param=tsan-distinguish-volatile=1",
          "-Xcompiler",
          "-fno-builtin-memcmp",
          "-Xcompiler",
          "-fno-builtin-strlen",
          "-Xcompiler",
          "-fno-builtin-strnlen",
          "-Xcompiler",
          "-fno-builtin-strcmp",
          "-Xcompiler",
          "-fno-builtin-strncmp",
          "-Xcompiler",
          "-mno-red-zone",
          "-Xcompiler",
          "-Xassembler",
          "-Xcompiler",
          "/lib/heddle_instructions.s",
          "-DX=a b",
          "-x",
          "cu",
          "-c",
          "a.cu",
          "-o",
          "dir/a.o"
      )
  );
}

TEST(Launcher, TheObjectsNameInAllItsSpellings) {
  const auto object = [](Words words) { return rewrite(words, "/lib").object; };
  EXPECT_EQ(object({"nvcc", "-c", "x/a.cu"}), "a.o");
  EXPECT_EQ(object({"nvcc", "-dc", "a.cu", "-ob.o"}), "b.o");
  EXPECT_EQ(object({"nvcc", "-c", "a.cu", "--output-file", "b.o"}), "b.o");
  EXPECT_EQ(object({"nvcc", "-c", "a.cu", "--output-file=b.o"}), "b.o");
  EXPECT_EQ(object({"g++", "-c", "a.cpp", "-MF", "a.c", "-o", "b.o"}), "b.o");
}

TEST(Launcher, HostCompilersGetTheirOwnFlags) {
  EXPECT_THAT(
      rewrite({"g++-12", "-c", "a.cpp"}, "/lib").command,
      ElementsAre(
          "g++-12",
          "-fsanitize=thread",
          "-g",
          "--param=tsan-distinguish-volatile=1",
          "-fno-builtin-memcmp",
          "-fno-builtin-strlen",
          "-fno-builtin-strnlen",
          "-fno-builtin-strcmp",
          "-fno-builtin-strncmp",
          "-mno-red-zone",
          "-Xassembler",
          "/lib/heddle_instructions.s",
          "-c",
          "a.cpp"
      )
  );
  EXPECT_THAT(
      rewrite({"/x/clang++-22", "-c", "a.cpp"}, "/lib").command,
      IsSupersetOf({"-mllvm", "-tsan-distinguish-volatile=1"})
  );
  EXPECT_THAT(
      rewrite({"nvcc", "-ccbin=clang++", "-c", "a.cu"}, "/lib").command,
      Contains("-mllvm")
  );
}

TEST(Launcher, LineTablesAreAskedForOnce) {
  for (const char* flag : {"-G", "-lineinfo", "--generate-line-info"}) {
    const Words command = rewrite({"nvcc", flag, "-c", "a.cu"}, "/lib").command;
    EXPECT_EQ(
        std::count(command.begin(), command.end(), "-lineinfo"),
        std::string_view(flag) == "-lineinfo" ? 1 : 0
    );
  }
}

TEST(Launcher, MachineCodeAloneIsNotEnough) {
  const auto rewritten = [](const char* flag) {
    return rewrite({"nvcc", flag, "-c", "a.cu"}, "/lib").command;
  };
  const std::string ptx = "-gencode=arch=compute_90,code=compute_90";
  EXPECT_THAT(rewritten("--generate-code=arch=compute_90,code=[sm_90]"), Contains(ptx));
  EXPECT_THAT(rewritten("-gencode=arch=compute_90,code=sm_90"), Contains(ptx));
  EXPECT_THAT(rewritten("-gencode=arch=compute_90,code=[compute_90,sm_90]"), Not(Contains(ptx)));
  EXPECT_THAT(rewritten("-gencode=arch=compute_90,code=[sm_90,compute_90]"), Not(Contains(ptx)));
  EXPECT_THAT(rewritten("-arch=sm_90"), Not(Contains(ptx)));
}

TEST(Launcher, OneStepNamesTheLibraries) {
  const Rewritten r = rewrite({"nvcc", "a.cu", "b.o", "-o", "app"}, "/lib");
  EXPECT_EQ(r.object, "");
  EXPECT_THAT(r.command, IsSupersetOf({"-L/lib", "-cudart", "shared", "b.o"}));
}

TEST(Launcher, EverythingElseStaysAsItIs) {
  for (const Words& command : std::vector<Words>{
           {"nvcc", "a.o", "b.o", "-o", "app"},
           {"nvcc", "-dlink", "a.o", "-o", "d.o"},
           {"nvcc", "--version"},
           {"nvcc", "-E", "a.cu"},
           {"nvcc", "-ptx", "a.cu"},
           {"nvcc", "-M", "-c", "a.cu"},
           {"g++", "-print-search-dirs"},
           {"g++"}
       }) {
    const Rewritten r = rewrite(command, "/lib");
    EXPECT_EQ(r.command, command);
    EXPECT_EQ(r.object, "");
  }
}

} // namespace
} // namespace heddle::cli
