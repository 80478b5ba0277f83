// The two ends of a relay (rank_relay.h), in two processes, and a job that keeps what it is sent.
#include "cli/ranks/rank_relay.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <deque>

namespace heddle::cli {
namespace {

/// What is sent to this rank is received from that one.
class EchoedMessages final : public RankMessages {
public:
  const Job& job() const override { return job_; }
  void send(int to, std::string_view text) override { kept_.push_back({to, std::string(text)}); }
  std::optional<Message> receive() override {
    if (kept_.empty()) {
      return std::nullopt;
    }
    Message first = kept_.front();
    kept_.pop_front();
    return first;
  }
  bool all_sent() override { return kept_.empty(); }
  void finish() override { finished = true; }
  void leave(int /*code*/) override {}
  bool finished = false;

private:
  Job job_{
      .rank = 0,
      .size = 3,
      .size_here = 2,
      .leaders = {0, 0, 2},
      .processors_here = {},
      .process = 77
  };
  std::deque<Message> kept_;
};

constexpr int mpi_is_over = 5;

/// The rank: a process that ends with this code if MPI has ended.
pid_t begin_rank(RelaySocket& socket) {
  const pid_t rank = ::fork();
  if (rank == 0) {
    socket.be_rank();
    EchoedMessages mpi;
    const bool is_over = serve_relay(socket, mpi);
    ::_exit(is_over && mpi.finished ? mpi_is_over : 0);
  }
  socket.be_check();
  return rank;
}

TEST(RankRelay, WhatTheRankHasTheOtherProcessHas) {
  RelaySocket socket;
  const pid_t rank = begin_rank(socket);
  auto messages = join_relay(socket);
  ASSERT_TRUE(messages.has_value());
  EXPECT_EQ((*messages)->job().size, 3);
  EXPECT_EQ((*messages)->job().leaders, (std::vector<int>{0, 0, 2}));
  EXPECT_EQ((*messages)->job().process, 77);
  const std::string large(1 << 20, 'x');
  (*messages)->send(1, "first");
  (*messages)->send(2, large);
  EXPECT_FALSE((*messages)->all_sent());
  auto message = (*messages)->receive();
  ASSERT_TRUE(message.has_value());
  EXPECT_EQ(message->from, 1);
  EXPECT_EQ(message->text, "first");
  message = (*messages)->receive();
  ASSERT_TRUE(message.has_value());
  EXPECT_EQ(message->text, large);
  EXPECT_FALSE((*messages)->receive().has_value());
  EXPECT_TRUE((*messages)->all_sent());
  (*messages)->finish();
  int status = 0;
  ASSERT_EQ(::waitpid(rank, &status, 0), rank);
  EXPECT_EQ(WEXITSTATUS(status), mpi_is_over);
}

TEST(RankRelay, ARankThatIsKilledIsNoticedAndHoldsUpNobody) {
  RelaySocket socket;
  const pid_t rank = begin_rank(socket);
  auto messages = join_relay(socket);
  ASSERT_TRUE(messages.has_value());
  EXPECT_FALSE(socket.is_gone());
  ::kill(rank, SIGKILL);
  ASSERT_EQ(::waitpid(rank, nullptr, 0), rank);
  EXPECT_TRUE(socket.is_gone());
  (*messages)->send(1, "lost");
  EXPECT_FALSE((*messages)->receive().has_value());
  EXPECT_FALSE((*messages)->is_there());
  EXPECT_FALSE((*messages)->all_sent());
  (*messages)->finish();
  EXPECT_FALSE(join_relay(socket).has_value());
}

TEST(RankRelay, AnIdentityIsTheSameAfterwards) {
  const std::map<std::string, std::string> what{{"program", "a=b"}, {"processor", "x y"}};
  const auto again = identity_from({.kind = {}, .number = 0, .text = identity_text(what)});
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(*again, what);
  const auto why = identity_from(
      {.kind = {},
       .number = static_cast<std::int32_t>(ErrorKind::Unsupported),
       .text = identity_text(unsupported("no such thing"))}
  );
  ASSERT_FALSE(why.has_value());
  EXPECT_EQ(why.error().kind, ErrorKind::Unsupported);
  EXPECT_EQ(why.error().message, "no such thing");
}

} // namespace
} // namespace heddle::cli
