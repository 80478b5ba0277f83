// What belongs to heddle and what to the program.
#include "cli/options/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(CommandLine, EverythingBehindAProgramBelongsToIt) {
  Options o;
  const Parsed p =
      parse_command_line({"run", "--seed", "3", "./app", "--seed", "4", "--", "-x"}, o);
  EXPECT_EQ(p.command, Command::Run);
  EXPECT_EQ(o.run.device.seed, 3U);
  EXPECT_EQ(o.run.program, "./app");
  EXPECT_THAT(o.run.arguments, ElementsAre("--seed", "4", "--", "-x"));
}

TEST(CommandLine, TheFirstDashesBehindAProgramAreNotAnArgument) {
  Options o;
  parse_command_line({"run", "./app", "--", "a", "--", "b"}, o);
  EXPECT_THAT(o.run.arguments, ElementsAre("a", "--", "b"));
}

TEST(CommandLine, OptionsMayStandOnBothSidesOfASourceFile) {
  Options o;
  const Parsed p = parse_command_line(
      {"run",
       "--devices",
       "2",
       "app.cu",
       "--nvcc",
       "-O1 -G",
       "--device=sm_80",
       "--",
       "--seed",
       "9"},
      o
  );
  EXPECT_EQ(p.command, Command::Run) << p.text;
  EXPECT_EQ(o.run.program, "app.cu");
  EXPECT_EQ(o.run.nvcc, "-O1 -G");
  EXPECT_EQ(o.run.device.device, "sm_80");
  EXPECT_EQ(o.run.device.devices, 2);
  EXPECT_EQ(o.run.device.seed, std::nullopt);
  EXPECT_THAT(o.run.arguments, ElementsAre("--seed", "9"));
}

TEST(CommandLine, SourcesBehindASourceAreForTheCompiler) {
  Options o;
  const Parsed p = parse_command_line(
      {"run", "a.cu", "b.cu", "--nvcc", "-O1", "my file.cpp", "--seed", "2", "--", "c.cu"},
      o
  );
  EXPECT_EQ(p.command, Command::Run) << p.text;
  EXPECT_EQ(o.run.program, "a.cu");
  EXPECT_EQ(o.run.nvcc, "-O1 b.cu my\\ file.cpp");
  EXPECT_EQ(o.run.device.seed, 2U);
  EXPECT_THAT(o.run.arguments, ElementsAre("c.cu"));
}

TEST(CommandLine, AModuleOfPython) {
  Options o;
  const Parsed p = parse_command_line({"run", "--seed", "2", "-m", "pytest", "-x"}, o);
  EXPECT_EQ(p.command, Command::Run) << p.text;
  EXPECT_EQ(o.run.program, "python3");
  EXPECT_EQ(o.run.device.seed, 2U);
  EXPECT_THAT(o.run.arguments, ElementsAre("-m", "pytest", "-x"));
}

TEST(CommandLine, FlagsOfTheEnvironmentComeFirst) {
  const auto words = with_flags({"check", "--jobs=2", "a.cu"}, "--max-time=5 --color=never");
  EXPECT_THAT(
      words.value(),
      ElementsAre("check", "--max-time=5", "--color=never", "--jobs=2", "a.cu")
  );
  EXPECT_THAT(with_flags({"lint", "a.cu"}, "--nonsense").value(), ElementsAre("lint", "a.cu"));
}

TEST(CommandLine, FlagsOfTheEnvironmentAreForTheCommandThatHasThem) {
  const std::string flags = "-j4 --leaks --max-time=5";
  EXPECT_THAT(
      with_flags({"run", "a"}, flags).value(),
      ElementsAre("run", "--leaks", "--max-time=5", "a")
  );
  EXPECT_THAT(
      with_flags({"check", "a"}, flags).value(),
      ElementsAre("check", "-j4", "--max-time=5", "a")
  );
  for (const char* wrong : {"--nonsense", "a.cu", "--max-time 5", "--max-time"}) {
    EXPECT_THAT(with_flags({"run", "a"}, wrong).error().message, HasSubstr("HEDDLE_FLAGS"))
        << wrong;
  }
  EXPECT_THAT(with_flags({"check", "a"}, "-j 4").error().message, HasSubstr("same word: -jN"));
}

TEST(CommandLine, ArgumentsBehindASourceFileNeedDashes) {
  Options o;
  const Parsed p = parse_command_line({"run", "app.cu", "4"}, o);
  EXPECT_EQ(p.command, Command::None);
  EXPECT_EQ(p.exit_code, 2);
  EXPECT_THAT(p.text, HasSubstr("arguments of the program follow '--'"));
}

TEST(CommandLine, CheckHasItsOwnOptions) {
  Options o;
  const Parsed p = parse_command_line({"check", "app.cu"}, o);
  EXPECT_EQ(p.command, Command::Check);
  EXPECT_EQ(o.check.program, "app.cu");
  EXPECT_THAT(o.check.arguments, IsEmpty());
}

TEST(CommandLine, AssumptionsAndLimitsOfACheck) {
  Options o;
  const Parsed p = parse_command_line(
      {"check",
       "--progress=lobe",
       "--host-progress",
       "none",
       "app.cu",
       "--api=prompt",
       "--other-processes",
       "--spurious-failures",
       "--no-symmetry",
       "--no-eager",
       "--max-states=5",
       "--max-time=0.5",
       "--max-memory=64"},
      o
  );
  EXPECT_EQ(p.command, Command::Check) << p.text;
  EXPECT_EQ(
      explore::to_text(o.check.search),
      "progress=lobe,host-progress=none,api=prompt,other-processes,spurious-failures,no-symmetry,"
      "no-eager,max-states=5,max-time=0.5,max-memory=64"
  );
}

TEST(CommandLine, WithoutOptionsTheSearchAssumesWhatCudaPromises) {
  Options o;
  parse_command_line({"check", "app.cu"}, o);
  EXPECT_EQ(o.check.search, explore::Options());
}

TEST(CommandLine, ReplayTakesAScheduleAnywhere) {
  Options o;
  EXPECT_EQ(parse_command_line({"replay", "v1:abc", "--trace"}, o).command, Command::Replay);
  EXPECT_EQ(o.replay.schedule, "v1:abc");
  EXPECT_TRUE(o.replay.trace);
  EXPECT_EQ(parse_command_line({"replay", "--format=json", "v1:x"}, o).command, Command::Replay);
  EXPECT_EQ(o.replay.format, "json");
  EXPECT_TRUE(o.replay.arguments.empty());
  EXPECT_EQ(
      parse_command_line(
          {"replay", "--nvcc", "-O1", "--nvcc=-DX", "v1:x", "--", "--trace", "--"},
          o
      )
          .command,
      Command::Replay
  );
  EXPECT_EQ(o.replay.nvcc, "-O1 -DX");
  EXPECT_EQ(o.replay.arguments, (std::vector<std::string>{"--trace", "--"}));
}

TEST(CommandLine, MistakesAreExitCode2AndSayWhatToDo) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{}, "Usage"},
      {{"rn", "x"}, "there is no program and no command 'rn'; did you mean 'run'?"},
      {{"run"}, "which program?"},
      {{"run", "--sed", "3", "x"}, "unknown option --sed"},
      {{"run", "-DBUG", "x.cu"},
       "unknown option -DBUG; flags of nvcc are given as --nvcc=\"-DBUG\""},
      {{"run", "-O0", "x.cu"}, "--nvcc=\"-O0\""},
      {{"run", "--arch=sm_80", "x.cu"}, "did you mean '--device'?"},
      {{"check", "--gpus", "2", "x.cu"}, "did you mean '--devices'?"},
      {{"test", "--timeout=3", "x.cu"}, "did you mean '--max-time'?"},
      {{"run", "--json", "x.cu"}, "did you mean '--format=json'?"},
      {{"test", "--races", "x.cu"}, "unknown option --races; did you mean 'heddle run --races'?"},
      {{"run", "--device", "sm_12", "x"}, "sm_12"},
      {{"run", "--devices", "0", "x"}, "--devices"},
      {{"run", "--seed", "x", "y"}, "--seed"},
      {{"run", "--warps", "loose", "y"}, "--warps"},
      {{"--nonsense"}, "--nonsense"},
      {{"replay"}, "schedule is required"},
      {{"replay", "v1:x", "y"}, "y"},
      {{"check", "--progress=weak", "x"}, "weak"},
      {{"check", "--max-memory=0", "x"}, "--max-memory"},
  };
  for (const auto& [arguments, expected] : cases) {
    Options o;
    const Parsed p = parse_command_line(arguments, o);
    EXPECT_EQ(p.command, Command::None);
    EXPECT_EQ(p.exit_code, 2);
    EXPECT_THAT(p.text, HasSubstr(expected));
  }
}

TEST(CommandLine, WithoutACommandEverythingIsLookedAt) {
  EXPECT_THAT(with_command({"app.cu", "-x"}), ElementsAre("test", "app.cu", "-x"));
  EXPECT_THAT(with_command({"./app"}), ElementsAre("test", "./app"));
  EXPECT_THAT(with_command({"--max-time=5", "a.cu"}), ElementsAre("test", "--max-time=5", "a.cu"));
  EXPECT_THAT(with_command({"-m", "module"}), ElementsAre("test", "-m", "module"));
  for (const char* word : {"run", "check", "--help", "--version", "--reference", "rn"}) {
    EXPECT_THAT(with_command({word}), ElementsAre(word));
  }
  EXPECT_THAT(with_command({"help", "run"}), ElementsAre("run", "--help"));
  EXPECT_THAT(with_command({"help"}), ElementsAre("--help"));
  Options o;
  EXPECT_EQ(
      parse_command_line({"test", "app.cu", "--max-time=5", "--", "1"}, o).command,
      Command::Test
  );
  EXPECT_EQ(o.test.program, "app.cu");
  EXPECT_EQ(o.test.search.max_seconds, 5);
  EXPECT_THAT(o.test.arguments, ElementsAre("1"));
}

TEST(CommandLine, TheFlagOfRunMeansSomeSchedulesOfACheck) {
  Options o;
  EXPECT_EQ(parse_command_line({"check", "--races", "app.cu"}, o).command, Command::Check);
  EXPECT_EQ(o.check.races, 3U);
  EXPECT_EQ(o.check.program, "app.cu");
}

TEST(CommandLine, ScriptsForShellsHaveEveryCommand) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    Options o;
    const Parsed p = parse_command_line({std::string("--completion=") + shell}, o);
    EXPECT_EQ(p.exit_code, 0);
    EXPECT_THAT(p.text, HasSubstr("replay"));
    EXPECT_THAT(p.text, HasSubstr("uninitialised"));
  }
}

TEST(CommandLine, HelpIsNotAMistake) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"--help"},
        {"run", "--help"},
        {"run", "-h"},
        {"check", "--help"}}) {
    Options o;
    const Parsed p = parse_command_line(arguments, o);
    EXPECT_EQ(p.exit_code, 0);
    EXPECT_THAT(p.text, HasSubstr("Usage"));
  }
  Options o;
  EXPECT_EQ(parse_command_line({"--version"}, o).command, Command::Version);
}

TEST(FlagsReference, NamesEveryCommandAndFlag) {
  const std::string page = flags_reference();
  for (const char* expected : {"## heddle run", "## heddle check", "--seed", "--nvcc", "`sm_90`"}) {
    EXPECT_THAT(page, HasSubstr(expected));
  }
}

} // namespace
} // namespace heddle::cli
