// The mechanism of metrics: families of counters, gauges and histograms with labels.
//
// Purpose: a registry owns families; a family owns series, one for each tuple of label values; a
// handle (Counter, Gauge, Histogram) is one series, resolved once and then used on the hot path.
//   - A family with At(label values) creates a series at first use (a lock, an allocation), or in
//     advance by Reserve.
//   - A dense family fixes the values of every label up front and is indexed by their positions, so
//     that engines reach a cell from enums with no lookup. It lists only the series that were
//     used, unless it shows zeros.
// When not to use it: for a number that decides something (see metric_cells.h).
// Threads: handles from any thread, wait-free; they allocate only as metric_cells.h says. Families
// and the registry from any thread; they lock. A registry outlives its handles.
// Memory: about 2.2 KB of address space for a series of a counter or gauge and 6.5 KB for one of a
// histogram, more with more than 32 threads (metric_cells.h). Threads that do not use it touch
// nothing.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/atom.h"
#include "engine/base/metrics/metric_cells.h"
#include "engine/base/time/time.h"

namespace schedq {

using LabelValues = std::vector<std::string>;

struct MetricDescription {
  std::string name;  // In full, as exposed: "scheduler_pending_pods".
  std::string help;
  std::vector<std::string> labels = {};
};

enum class MetricKind : uint8_t { kCounter, kGauge, kHistogram };

// Upper bounds first, first*factor, ... as upstream computes them. Seconds, or counts.
std::vector<double> ExponentialBounds(double first, double factor, int count);

struct HistogramValue {
  std::vector<double> bounds;    // Upper, inclusive, ascending.
  std::vector<uint64_t> counts;  // Of each bucket, not cumulative; one more than bounds.
  uint64_t count = 0;
  double sum = 0;
};

// Only ever grows.
class Counter {
 public:
  static constexpr MetricKind kKind = MetricKind::kCounter;
  struct Shape {
    size_t Cells() const { return 1; }
  };

  Counter() = default;
  Counter(MetricCell cell, const Shape*) : cell_(cell) {}

  void Add(uint64_t amount = 1) const { cell_.Add(amount); }
  uint64_t Value() const { return cell_.Sum(); }

 private:
  MetricCell cell_;
};

class Gauge {
 public:
  static constexpr MetricKind kKind = MetricKind::kGauge;
  using Shape = Counter::Shape;

  Gauge() = default;
  Gauge(MetricCell cell, const Shape*) : cell_(cell) {}

  void Add(int64_t amount = 1) const { cell_.Add(static_cast<uint64_t>(amount)); }
  // Not for the hot path: it reads every shard. See MetricCell::Set for what it does to an Add that
  // runs at the same time.
  void Set(int64_t value) const { cell_.Set(static_cast<uint64_t>(value)); }
  int64_t Value() const { return static_cast<int64_t>(cell_.Sum()); }

 private:
  MetricCell cell_;
};

// A gauge of how many there are of what comes and goes. What came and what went is counted apart,
// so that it never reads below zero.
class Population {
 public:
  static constexpr MetricKind kKind = MetricKind::kGauge;
  struct Shape {
    static constexpr size_t Cells() { return 2; }
  };

  Population() = default;
  Population(MetricCell came, const Shape*) : came_(came) {}

  void Add(int64_t amount) const {
    if (amount >= 0) {
      came_.Add(static_cast<uint64_t>(amount));
    } else {
      came_.Next(1).Add(static_cast<uint64_t>(-amount));
    }
  }
  uint64_t Value() const { return CountThere(came_); }

 private:
  MetricCell came_;
};

// Observations are kept as whole billionths of the unit: nanoseconds for seconds. So sums do not
// depend on the order of additions, and a run on the virtual clock gives the same bytes each time.
class Histogram {
 public:
  static constexpr MetricKind kKind = MetricKind::kHistogram;
  class Shape {
   public:
    Shape() = default;
    explicit Shape(std::vector<double> bounds);
    size_t Cells() const { return bounds_.size() + 2; }  // Buckets, the last without bound; sum.
    size_t Bucket(int64_t billionths) const {
      // How many bounds are below it. Halving without branches: twenty bounds cost five steps.
      size_t below = 0;
      for (size_t length = bounds_billionths_.size(); length > 0;) {
        const size_t half = (length + 1) / 2;
        below += billionths > bounds_billionths_[below + half - 1] ? half : 0;
        length -= half;
      }
      return below;
    }
    const std::vector<double>& bounds() const { return bounds_; }

   private:
    std::vector<double> bounds_;
    std::vector<int64_t> bounds_billionths_;
  };

  Histogram() = default;
  Histogram(MetricCell first, const Shape* shape) : first_(first), shape_(shape) {}

  // `times` observations of `duration` each.
  void Observe(Duration duration, uint64_t times = 1) const {
    if (shape_ != nullptr) ObserveIn(BucketOf(duration), duration, times);
  }
  // The same for a caller that knows the bucket. Not for a default-constructed histogram.
  void ObserveIn(size_t bucket, Duration duration, uint64_t times = 1) const {
    const auto from_bucket_to_sum = static_cast<ptrdiff_t>(shape_->Cells() - 1 - bucket);
    first_.Next(bucket).AddTwo(times, from_bucket_to_sum,
                               static_cast<uint64_t>(duration.count()) * times);
  }
  size_t BucketOf(Duration duration) const { return shape_->Bucket(duration.count()); }
  // For histograms of counts.
  void ObserveCount(int64_t count) const { Observe(Duration(count * kSecond.count())); }

  HistogramValue Value() const;

 private:
  MetricCell first_;
  const Shape* shape_ = nullptr;
};

// One series as read. For a histogram `value` is the number of observations.
struct MetricSample {
  LabelValues label_values;
  double value = 0;
  HistogramValue histogram;
};

// A family that can be read. Families differ only in how a series is found.
class MetricFamilyBase {
 public:
  MetricFamilyBase(MetricDescription description, MetricKind kind)
      : description_(std::move(description)), kind_(kind) {}
  virtual ~MetricFamilyBase() = default;

  const MetricDescription& description() const { return description_; }
  MetricKind kind() const { return kind_; }

  // Series in a fixed order: by label values, or by cell in a dense family.
  virtual std::vector<MetricSample> Read() const = 0;
  // The series with these label values, as Read has it; nullopt: there is none.
  virtual std::optional<MetricSample> ReadOne(const LabelValues& values) const;
  // As if nothing had been counted yet. Only while no other thread uses the family.
  virtual void Clear() const {}

 private:
  const MetricDescription description_;
  const MetricKind kind_;
};

template <typename Handle>
class MetricFamily final : public MetricFamilyBase {
 public:
  using Shape = typename Handle::Shape;

  MetricFamily(MetricDescription description, Shape shape)
      : MetricFamilyBase(std::move(description), Handle::kKind), shape_(std::move(shape)) {}

  // A series that nobody reads before it is shown. So a user that may not lock when a series is
  // first used makes all that may be used in advance. Any thread may use and show it.
  class Reserved {
   public:
    Reserved(Handle handle, std::atomic<bool>* is_shown) : handle_(handle), is_shown_(is_shown) {}
    const Handle& handle() const { return handle_; }
    // Wait-free. Relaxed: a reader that does not see it misses what it might have read too early
    // to see.
    void Show() const { StoreRelaxed(*is_shown_, true); }

   private:
    Handle handle_;
    std::atomic<bool>* is_shown_;
  };

  // The series with these values, one for each label of the description.
  Handle At(const LabelValues& values = {});
  // The series with each of these values, in this order.
  std::vector<Reserved> Reserve(const std::vector<LabelValues>& values);
  std::vector<MetricSample> Read() const override;
  void Clear() const override;

 private:
  struct Series {
    MetricCell first;
    // Set by At and Show, and never cleared.
    std::atomic<bool> is_shown{false};
  };

  const Shape shape_;
  mutable std::mutex mutex_;  // Guards blocks_ and series_; a series, once there, stays.
  std::vector<std::unique_ptr<MetricCellBlock>> blocks_;
  std::map<LabelValues, Series> series_;
};

enum class Zeros : uint8_t { kHide, kShow };

template <typename Handle>
class DenseMetricFamily final : public MetricFamilyBase {
 public:
  using Shape = typename Handle::Shape;

  // `values` has the possible values of each label, in the order of the description's labels.
  DenseMetricFamily(MetricDescription description, Shape shape, std::vector<LabelValues> values,
                    Zeros zeros);

  // By the position of each label's value.
  template <typename... Index>
  Handle At(Index... positions) const {
    return AtSeries(SeriesOf({static_cast<size_t>(positions)...}));
  }
  // By the series' number: positions in row-major order.
  Handle AtSeries(size_t series) const {
    return Handle(cells_.At(series * cells_per_series_), &shape_);
  }
  size_t series_count() const { return series_count_; }
  std::vector<MetricSample> Read() const override;
  std::optional<MetricSample> ReadOne(const LabelValues& values) const override;
  void Clear() const override { cells_.Clear(); }

 private:
  size_t SeriesOf(std::initializer_list<size_t> positions) const {
    size_t series = 0;
    size_t label = 0;
    for (const size_t position : positions) series = series * values_[label++].size() + position;
    return series;
  }
  LabelValues ValuesOf(size_t series) const;

  const Shape shape_;
  const std::vector<LabelValues> values_;
  const Zeros zeros_;
  const size_t series_count_;
  const size_t cells_per_series_;
  const MetricCellBlock cells_;
};

using CounterFamily = MetricFamily<Counter>;
using GaugeFamily = MetricFamily<Gauge>;
using HistogramFamily = MetricFamily<Histogram>;
using DenseCounterFamily = DenseMetricFamily<Counter>;
using DenseGaugeFamily = DenseMetricFamily<Gauge>;
using DenseHistogramFamily = DenseMetricFamily<Histogram>;
using DensePopulationFamily = DenseMetricFamily<Population>;

// Gauges whose value is computed when they are read.
class CallbackGaugeFamily final : public MetricFamilyBase {
 public:
  // Its destructor ends the series, and waits for a read in progress.
  class Registration {
   public:
    Registration() = default;
    Registration(CallbackGaugeFamily* family, LabelValues values)
        : family_(family), values_(std::move(values)) {}
    ~Registration();
    Registration(Registration&& other) noexcept;
    Registration& operator=(Registration&& other) noexcept;

   private:
    CallbackGaugeFamily* family_ = nullptr;
    LabelValues values_;
  };

  explicit CallbackGaugeFamily(MetricDescription description)
      : MetricFamilyBase(std::move(description), MetricKind::kGauge) {}

  // The callback must not read the registry. One callback at a time for each tuple of values.
  [[nodiscard]] Registration Register(LabelValues values, std::function<double()> callback);
  std::vector<MetricSample> Read() const override;

 private:
  mutable std::mutex mutex_;  // Guards callbacks_.
  std::map<LabelValues, std::function<double()>> callbacks_;
};

// Owns families. A family that is asked for again under its name is the same one; a name used for
// families of two kinds or label lists is a bug.
class MetricsRegistry {
 public:
  CounterFamily& Counters(MetricDescription description);
  GaugeFamily& Gauges(MetricDescription description);
  HistogramFamily& Histograms(MetricDescription description, std::vector<double> bounds);

  DenseCounterFamily& DenseCounters(MetricDescription description,
                                    const std::vector<LabelValues>& values,
                                    Zeros zeros = Zeros::kHide);
  DensePopulationFamily& DensePopulations(MetricDescription description,
                                          const std::vector<LabelValues>& values,
                                          Zeros zeros = Zeros::kHide);
  DenseGaugeFamily& DenseGauges(MetricDescription description,
                                const std::vector<LabelValues>& values, Zeros zeros = Zeros::kHide);
  DenseHistogramFamily& DenseHistograms(MetricDescription description, std::vector<double> bounds,
                                        const std::vector<LabelValues>& values,
                                        Zeros zeros = Zeros::kHide);

  CallbackGaugeFamily& CallbackGauges(MetricDescription description);

  // Lets the next user count from zero: cheaper than a registry of its own, where there are very
  // many users, one after the other. Only while nobody uses a handle.
  void Clear() const;

  // Reading. Families by name.
  std::vector<const MetricFamilyBase*> Families() const;
  const MetricFamilyBase* Find(std::string_view name) const;
  // nullopt: there is no such series.
  std::optional<double> Value(std::string_view name, const LabelValues& values = {}) const;
  std::optional<HistogramValue> HistogramAt(std::string_view name,
                                            const LabelValues& values = {}) const;

 private:
  template <typename Family, typename... Arguments>
  Family& FindOrMake(MetricDescription description, Arguments&&... arguments);
  std::optional<MetricSample> SampleAt(std::string_view name, const LabelValues& values) const;

  mutable std::mutex mutex_;  // Guards families_; a family, once there, stays.
  std::map<std::string, std::unique_ptr<MetricFamilyBase>, std::less<>> families_;
};

}  // namespace schedq
