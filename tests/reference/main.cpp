// heddle_differ: random programs in PTX, by the reference and by the searches of `heddle check`.
//
//   heddle_differ --seed=1 --programs=1000     prints a disagreement as the smallest program that shows it
//   heddle_differ --seed=1 --seconds=60
//   heddle_differ --seed=17 --programs=1 --show
//   heddle_differ FILE…                          programs that were wrong once (mended/)
//   heddle_differ --mutants --programs=5000      which broken reductions (reduce/mutant.h) are noticed
//
// See README.md.
#include "reference/campaign.h"

#include <CLI/CLI.hpp>

int main(int argc, char** argv) {
  heddle::differ::Asked asked;
  CLI::App app{"Random programs in PTX, by the reference and by the searches of heddle check"};
  app.add_option("--seed", asked.seed, "of the first program; the others follow");
  app.add_option("--programs", asked.programs, "at most so many");
  app.add_option("--seconds", asked.seconds, "at most so long");
  app.add_option("--length", asked.length, "statements of a thread, at most");
  app.add_option("--states", asked.states, "programs with more are left out");
  app.add_option("--fired", asked.fired, "fails if a reduction has changed fewer searches");
  app.add_option("--pairs", asked.pairs, "searches of each program with one reduction or two");
  app.add_flag("--show", asked.show, "prints each program");
  app.add_flag("--keep", asked.keep, "prints programs as they were drawn, not made smaller");
  app.add_option("--mutant", asked.mutant, "with --mutants: those with this in their name");
  app.add_option("file", asked.files, "programs that were wrong once (mended/), in the place of drawn ones");
  app.add_option("--with", asked.with, "only with these reductions: \"symmetry eager\"");
  app.add_flag("--mutants", asked.mutants, "which broken reductions are noticed");
  CLI11_PARSE(app, argc, argv);
  return asked.mutants ? look_for_mutants(asked) : compare(asked);
}
