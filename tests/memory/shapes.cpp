// Implements shapes.h.
#include "memory/shapes.h"

#include <algorithm>
#include <random>
#include <string_view>

namespace heddle::litmus {

namespace {

using Kind = Instruction::Kind;
using weak::Location;
using weak::Scope;

constexpr Scope scopes[] = {Scope::Cta, Scope::Cluster, Scope::Gpu, Scope::Sys};

/// How strong an access is.
struct Strength {
  bool strong = false, ordered = false, is_volatile = false;
  Scope scope{};
};
/// What stands between two accesses.
struct Link {
  bool fence = false, acquire = false, release = false, sc = false;
  Scope scope{};
};

std::vector<Strength> strengths() {
  std::vector<Strength> result{{}, {.strong = true, .is_volatile = true, .scope = Scope::Sys}};
  for (const bool ordered : {false, true}) {
    for (const Scope s : scopes) {
      result.push_back({.strong = true, .ordered = ordered, .scope = s});
    }
  }
  return result;
}

std::vector<Link> links() {
  std::vector<Link> result{{}};
  for (const Scope s : scopes) {
    result.push_back({true, true, true, true, s});
    result.push_back({true, true, true, false, s});
    result.push_back({true, true, false, false, s});
    result.push_back({true, false, true, false, s});
  }
  return result;
}

/// Every way to put so many threads into blocks, blocks into clusters and clusters on devices, up
/// to a renaming of these.
std::vector<std::vector<Location>> placements(std::size_t threads) {
  std::vector<std::vector<Location>> result{{}};
  for (std::size_t t = 0; t < threads; ++t) {
    std::vector<std::vector<Location>> longer;
    for (const std::vector<Location>& before : result) {
      const auto add = [&](const Location& at) {
        longer.push_back(before);
        longer.back().push_back(at);
      };
      const auto fresh = [&](auto member) {
        std::uint32_t n = 0;
        for (const Location& l : before) {
          n = std::max(n, l.*member + 1);
        }
        return n;
      };
      // In a block that is there, a new one of a cluster that is there, and so on.
      std::vector<Location> known;
      for (const Location& l : before) {
        if (std::ranges::find(known, l) == known.end()) {
          known.push_back(l);
          add(l);
        }
      }
      const std::uint32_t block = fresh(&Location::block), cluster = fresh(&Location::cluster),
                          device = fresh(&Location::device);
      std::vector<std::uint32_t> clusters, devices;
      for (const Location& l : before) {
        if (std::ranges::find(clusters, l.cluster) == clusters.end()) {
          clusters.push_back(l.cluster);
          add({block, l.cluster, l.device});
        }
        if (std::ranges::find(devices, l.device) == devices.end()) {
          devices.push_back(l.device);
          add({block, cluster, l.device});
        }
      }
      add({block, cluster, device});
    }
    result = std::move(longer);
  }
  return result;
}

std::size_t count_threads(const Shape& shape) {
  return 1 + static_cast<std::size_t>(std::ranges::count(std::string_view(shape.threads), ','));
}

Instruction access(char what, char place, const Strength& s) {
  Instruction i;
  i.kind = what == 'W'   ? Kind::Store
           : what == 'R' ? Kind::Load
           : what == 'U' ? Kind::Update
                         : Kind::Reduce;
  i.place = static_cast<std::uint8_t>(std::string_view("xyzw").find(place));
  const bool plain = i.kind == Kind::Load || i.kind == Kind::Store;
  i.strong = s.strong || !plain;
  i.is_volatile = s.is_volatile && plain;
  i.scope = i.strong && !s.strong ? Scope::Gpu : s.scope;
  i.acquire = s.ordered && (i.kind == Kind::Load || i.kind == Kind::Update);
  i.release = s.ordered && i.kind != Kind::Load;
  return i;
}

/// `strength()` and `link()` say what comes next.
template <class S, class L>
Program make(const Shape& shape, const std::vector<Location>& at, S strength, L link) {
  Program p;
  p.locations = at;
  p.threads.emplace_back();
  p.places = 1;
  const std::string_view text = shape.threads;
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::vector<Instruction>& code = p.threads.back();
    if (text[i] == ',') {
      p.threads.emplace_back();
    } else if (text[i] == 'B') {
      code.push_back({.kind = Kind::Barrier});
    } else if (text[i] != ' ') {
      if (!code.empty() && !code.back().is_barrier()) {
        if (const Link l = link(); l.fence) {
          code.push_back({Kind::Fence, 0, true, l.scope, l.acquire, l.release, l.sc});
        }
      }
      code.push_back(access(text[i], text[i + 1], strength()));
      p.places = std::max(p.places, code.back().place + 1);
      ++i;
    }
  }
  return p;
}

} // namespace

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all{
      {"MP", "Wx Wy, Ry Rx"},
      {"SB", "Wx Ry, Wy Rx"},
      {"LB", "Rx Wy, Ry Wx"},
      {"R", "Wx Wy, Wy Rx"},
      {"S", "Wx Wy, Ry Wx"},
      {"2+2W", "Wx Wy, Wy Wx"},
      {"CoRR", "Wx, Rx Rx"},
      {"CoRR2", "Wx, Wx, Rx Rx, Rx Rx"},
      {"CoWW", "Wx Wx"},
      {"CoWR", "Wx Rx, Wx"},
      {"CoRW1", "Rx Wx"},
      {"CoRW2", "Rx Wx, Wx"},
      {"WRC", "Wx, Rx Wy, Ry Rx"},
      {"WWC", "Wx, Rx Wy, Ry Wx"},
      {"RWC", "Wx, Rx Ry, Wy Rx"},
      {"WRW+WR", "Wx, Rx Wy, Wy Rx"},
      {"WRR+2W", "Wx, Rx Ry, Wy Wx"},
      {"WRW+2W", "Wx, Rx Wy, Wy Wx"},
      {"IRIW", "Wx, Wy, Rx Ry, Ry Rx"},
      {"IRWIW", "Wx, Wy, Rx Ry, Ry Wx"},
      {"IRRWIW", "Wx, Wy, Rx Wy, Ry Wx"},
      {"ISA2", "Wx Wy, Ry Wz, Rz Rx"},
      {"W+RWC", "Wx Wy, Ry Rz, Wz Rx"},
      {"Z6.0", "Wx Wy, Ry Wz, Wz Rx"},
      {"Z6.1", "Wx Wy, Wy Wz, Rz Wx"},
      {"Z6.2", "Wx Wy, Ry Wz, Rz Wx"},
      {"Z6.3", "Wx Wy, Wy Wz, Rz Rx"},
      {"Z6.4", "Wx Wy, Wy Rz, Wz Rx"},
      {"Z6.5", "Wx Wy, Ry Wz, Wz Wx"},
      {"3.2W", "Wx Wy, Wy Wz, Wz Wx"},
      {"3.SB", "Wx Ry, Wy Rz, Wz Rx"},
      {"3.LB", "Rx Wy, Ry Wz, Rz Wx"},
      {"MP-sequence", "Wx Wy, Uy, Ry Rx"},
      {"MP-reduction", "Wx Wy, Ay, Ry Rx"},
      {"MP-by-updates", "Wx Uy, Uy Rx"},
      {"MP-by-reduction", "Wx Ay, Ry Rx"},
      {"MP-to-reduction", "Wx Wy, Ay Rx"},
      {"MP-written-twice", "Wx Wy Wy, Ry Rx"},
      {"MP-read-twice", "Wx Wy, Ry Ry Rx"},
      {"SB-updates", "Ux Ry, Uy Rx"},
      {"SB-one-update", "Wx Uz Ry, Wy Uz Rx"},
      {"2+2W-updates", "Ux Wy, Uy Wx"},
      {"IRIW-updates", "Ux, Uy, Rx Ry, Ry Rx"},
      {"two-updates", "Ux Rx, Ux Rx"},
      {"two-reductions", "Ax Rx, Ax Rx"},
      {"update-and-store", "Ux Rx, Wx"},
      {"reductions-hand-over", "Wx Ay, Ay, Ry Rx"},
      {"MP-barrier", "Wx B, B Rx"},
      {"MP-barrier-behind-flag", "Wx Wy, Ry B, B Rx"},
      {"SB-barrier", "Wx B Ry, Wy B Rx"},
      {"barrier-twice", "Wx B Ry B Wy, B Rx B Ry"},
  };
  return all;
}

std::vector<Program> uniform_programs(const Shape& shape) {
  std::vector<Program> result;
  for (const std::vector<Location>& at : placements(count_threads(shape))) {
    for (const Strength& s : strengths()) {
      for (const Link& l : links()) {
        result.push_back(make(shape, at, [&] { return s; }, [&] { return l; }));
      }
    }
  }
  return result;
}

Program mixed_program(const Shape& shape, std::uint64_t seed) {
  static const std::vector<Strength> all_strengths = strengths();
  static const std::vector<Link> all_links = links();
  std::mt19937_64 random(seed);
  const auto draw = [&](const auto& from) { return from[random() % from.size()]; };
  const std::vector<Location> at = draw(placements(count_threads(shape)));
  return make(
      shape,
      at,
      [&] { return draw(all_strengths); },
      [&] { return random() % 2 == 0 ? Link{} : draw(all_links); }
  );
}

} // namespace heddle::litmus
