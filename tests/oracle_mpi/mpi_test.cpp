// The preload library under real MPI programs: which events are recorded, and that nothing else is changed.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace refrain {
namespace {

namespace fs = std::filesystem;

struct Finished {
  int status;
  std::string output;  ///< stdout alone
};

Finished run(const std::string& command) {
  FILE* const pipe = popen(command.c_str(), "r");
  std::string output;
  for (int c = 0; (c = std::fgetc(pipe)) != EOF;) output += static_cast<char>(c);
  return {pclose(pipe), output};
}

std::string mpirun(int ranks, const std::string& program) {
  return std::string(TEST_MPIRUN) + " -n " + std::to_string(ranks) + " " TEST_PROGRAMS "/" +
         program;
}

class OracleMpi : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(TEST_MPIRUN)) GTEST_SKIP() << "there is no mpirun";
    // For tests in a container, on machines with few cores.
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    setenv("OMPI_MCA_rmaps_base_oversubscribe", "1", 1);
    setenv("OMPI_MCA_mpi_yield_when_idle", "1", 1);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string file() const { return folder_ + "/run"; }
  Finished tool(const std::string& arguments) const {
    return run(TEST_TOOL " oracle " + arguments + " 2>" + folder_ + "/stderr");
  }
  [[nodiscard]] std::string stderr_text() const {
    std::ostringstream text;
    text << std::ifstream(folder_ + "/stderr").rdbuf();
    return text.str();
  }
  Finished record(const std::string& command) const {
    return tool("record -o " + file() + " -- " + command);
  }
  /// What was recorded of ranks, without the command's line.
  std::string recorded(int ranks, const std::string& program) const {
    const Finished command = record(mpirun(ranks, program));
    EXPECT_EQ(command.status, 0) << stderr_text();
    return shown();
  }
  [[nodiscard]] std::string shown() const {
    const std::string text = tool("show " + file()).output;
    return text.substr(text.find('\n') + 1);
  }

 private:
  const std::string folder_ = testing::TempDir() + "oracle_mpi." + std::to_string(getpid());
};

// Of both ranks of the programs `calls`.
constexpr const char* kCalls = R"(78 events in 2 streams of 2 processes: 4 rules

process 0, thread 0: 39 events
R -> MPI_Init A^10 MPI_Comm_split "MPI_Barrier in {0}" MPI_Comm_free "MPI_Reduce sum 1" "MPI_Allreduce max" "MPI_Sendrecv 1 any" "MPI_Send null" MPI_Finalize
A -> "MPI_Irecv 1" "MPI_Isend 1" MPI_Waitall

process 1, thread 0: 39 events
R -> MPI_Init A^10 MPI_Comm_split "MPI_Barrier in {1}" MPI_Comm_free "MPI_Reduce sum 1" "MPI_Allreduce max" "MPI_Sendrecv 0 any" "MPI_Send null" MPI_Finalize
A -> "MPI_Irecv 0" "MPI_Isend 0" MPI_Waitall

)";

TEST_F(OracleMpi, CallsAreEvents) { EXPECT_EQ(recorded(2, "calls"), kCalls); }

TEST_F(OracleMpi, InFortranTheyAreTheSame) {
  if (!fs::exists(TEST_PROGRAMS "/calls_f08")) GTEST_SKIP() << "there is no Fortran with MPI";
  EXPECT_EQ(recorded(2, "calls_mpif"), kCalls);
  EXPECT_EQ(recorded(2, "calls_f08"), kCalls);
}

TEST_F(OracleMpi, ProgramsComputeTheSame) {
  const Finished alone = run(mpirun(2, "calls"));
  EXPECT_EQ(alone.output, "result 2048\n");
  EXPECT_EQ(record(mpirun(2, "calls")).output, alone.output);
  EXPECT_EQ(tool("run " + file() + " -- " + mpirun(2, "calls")).output, alone.output);
}

TEST_F(OracleMpi, ARunThatIsTheSameIsPredicted) {
  recorded(2, "calls");
  tool("run " + file() + " -- " + mpirun(2, "calls"));
  const std::string report = stderr_text();
  EXPECT_NE(report.find("78 events in 2 streams: 100.0% expected"), std::string::npos) << report;
  EXPECT_NE(report.find("percent   100.0  100.0  100.0  100.0  100.0  100.0"), std::string::npos)
      << report;
}

TEST_F(OracleMpi, RanksAreThoseOfAllAndCommunicatorsTheirMembers) {
  const std::string text = recorded(6, "communicators");
  const std::string of_one = text.substr(text.find("process 1,"), text.find("process 2,"));
  for (const char* const event :
       {" MPI_Barrier ", "\"MPI_Bcast 0 in {5,4,..,0: 6}\"", "\"MPI_Bcast 3 in {1,3,5}\"",
        "\"MPI_Bcast 1 in {0,1,2}\"", "\"MPI_Allreduce sum in {1}\"",
        "\"MPI_Intercomm_create in {1,3,5}\"", "\"MPI_Sendrecv 0 0\""})
    EXPECT_NE(of_one.find(event), std::string::npos) << event << " is not in\n" << of_one;
}

TEST_F(OracleMpi, TestsThatFindNothingAreNone) {
  const std::string text = recorded(2, "polling");
  EXPECT_NE(text.find("R -> MPI_Init \"MPI_Irecv 1\" A MPI_Test MPI_Wait A \"MPI_Iprobe any\" "
                      "\"MPI_Recv 1\" MPI_Wait MPI_Finalize\n"
                      "A -> MPI_Barrier \"MPI_Isend 1\"\n"),
            std::string::npos)
      << text;
}

TEST_F(OracleMpi, EachThreadHasItsStream) {
  const Finished command = record(mpirun(2, "threads"));
  EXPECT_EQ(command.status, 0) << stderr_text();
  EXPECT_EQ(command.output, "done\ndone\n");
  const std::string text = shown();
  EXPECT_NE(text.find("4'250 events in 10 streams"), std::string::npos) << text;
  EXPECT_NE(text.find("process 0, threads 1-4: 530 events\n"
                      "R -> A^10\n"
                      "A -> \"MPI_Sendrecv 1 1\" MPI_Comm_dup MPI_Barrier MPI_Comm_free "
                      "\"MPI_Sendrecv 1 1\"^49\n"),
            std::string::npos)
      << text;
}

TEST_F(OracleMpi, OfOneThatIsKilledMostIsThere) {
  EXPECT_NE(record(mpirun(2, "killed")).status, 0);
  const Finished check = tool("check " + file());
  EXPECT_EQ(check.status, 0);
  EXPECT_NE(check.output.find("sound"), std::string::npos) << check.output;
  EXPECT_NE(shown().find("A -> \"MPI_Send null\" \"MPI_Recv null\""), std::string::npos) << shown();
}

TEST_F(OracleMpi, ALibraryThatIsLoadedLaterIsFound) {
  const std::string text = recorded(2, "late " TEST_PROGRAMS "/late_module.so");
  EXPECT_NE(text.find("R -> MPI_Init \"MPI_Allreduce"), std::string::npos) << text;
  EXPECT_NE(text.find("MPI_Finalize\n"), std::string::npos) << text;
}

TEST_F(OracleMpi, WithoutMpiItDoesNothing) {
  const Finished command = record("/bin/echo text");
  EXPECT_EQ(command.status, 0);
  EXPECT_EQ(command.output, "text\n");
  EXPECT_EQ(shown().substr(0, 9), "0 events ");
}

}  // namespace
}  // namespace refrain
