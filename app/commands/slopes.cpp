// ropelab slopes: ALiBi's slopes, and how far each of them sees.
#include "app/cells.hpp"
#include "app/commands.hpp"
#include "app/head_options.hpp"
#include "ropelab/alibi/slope.hpp"

namespace ropelab::app {
namespace {

class Slopes : public Command {
 public:
  void add_options(CLI::App& app) override { heads_.add_to(app, "all"); }

  void set_up(const Interruption& interruption) override { choices_ = heads_.read(interruption); }

  std::vector<std::string> columns() const override {
    return {"heads", "head", "slope", "visible_reach"};
  }

  std::optional<std::size_t> rows_in_all() const override { return choices_.size(); }

  void run(Run& run, Table& table) override {
    run.over(choices_.size(), [&](std::size_t point) {
      const HeadChoice& choice = choices_[point];
      table.add_row({choice.heads, choice.head, exact_cell(choice.slope, run.digits()),
                     ExactNumber{visible_reach(choice.slope).str()}});
    });
  }

 private:
  HeadOptions heads_;
  std::vector<HeadChoice> choices_;
};

}  // namespace

CommandEntry slopes_command() {
  return {"slopes", "List ALiBi slopes and the distance that each of them can see",
          R"(  $ ropelab slopes --heads 4
  heads,head,slope,visible_reach
  4,1,0.25,44
  4,2,0.0625,177
  4,3,0.015625,709
  4,4,0.00390625,2839
)",
          make_command<Slopes>};
}

}  // namespace ropelab::app
