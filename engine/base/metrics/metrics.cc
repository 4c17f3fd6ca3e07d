#include "engine/base/metrics/metrics.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/base/result.h"

namespace schedq {
namespace {

constexpr double kBillionths = 1e9;

template <typename Handle>
MetricSample ReadSample(LabelValues values, const Handle& handle) {
  MetricSample sample{.label_values = std::move(values), .value = 0, .histogram = {}};
  if constexpr (Handle::kKind == MetricKind::kHistogram) {
    sample.histogram = handle.Value();
    sample.value = static_cast<double>(sample.histogram.count);
  } else {
    sample.value = static_cast<double>(handle.Value());
  }
  return sample;
}

size_t Product(const std::vector<LabelValues>& values) {
  size_t product = 1;
  for (const LabelValues& of_label : values) product *= of_label.size();
  return product;
}

}  // namespace

std::vector<double> ExponentialBounds(double first, double factor, int count) {
  std::vector<double> bounds;
  bounds.reserve(static_cast<size_t>(count));
  for (double bound = first; count > 0; --count, bound *= factor) bounds.push_back(bound);
  return bounds;
}

Histogram::Shape::Shape(std::vector<double> bounds) : bounds_(std::move(bounds)) {
  SCHEDQ_CHECK(std::is_sorted(bounds_.begin(), bounds_.end()), "bounds must ascend");
  for (const double bound : bounds_) {
    // Observations are whole numbers, so the largest whole number not above the bound decides. A
    // rounding error may leave a bound just below a whole number; the bound then means that number.
    const double billionths = bound * kBillionths;
    const double nearest = std::round(billionths);
    const bool is_whole = std::abs(billionths - nearest) <= std::abs(billionths) * 1e-12;
    bounds_billionths_.push_back(static_cast<int64_t>(is_whole ? nearest : std::floor(billionths)));
  }
}

HistogramValue Histogram::Value() const {
  HistogramValue value;
  if (shape_ == nullptr) return value;
  value.bounds = shape_->bounds();
  for (size_t bucket = 0; bucket <= value.bounds.size(); ++bucket) {
    value.counts.push_back(first_.Next(bucket).Sum());
    value.count += value.counts.back();
  }
  const auto sum_billionths = static_cast<int64_t>(first_.Next(shape_->Cells() - 1).Sum());
  value.sum = static_cast<double>(sum_billionths) / kBillionths;
  return value;
}

std::optional<MetricSample> MetricFamilyBase::ReadOne(const LabelValues& values) const {
  for (MetricSample& sample : Read()) {
    if (sample.label_values == values) return std::move(sample);
  }
  return std::nullopt;
}

template <typename Handle>
Handle MetricFamily<Handle>::At(const LabelValues& values) {
  const Reserved series = Reserve({values}).front();
  series.Show();
  return series.handle();
}

template <typename Handle>
std::vector<typename MetricFamily<Handle>::Reserved> MetricFamily<Handle>::Reserve(
    const std::vector<LabelValues>& values) {
  std::lock_guard lock(mutex_);
  const auto is_new = [this](const LabelValues& of_series) {
    SCHEDQ_CHECK(of_series.size() == description().labels.size(), "one value for each label");
    return series_.count(of_series) == 0;
  };
  // One block for all that are new: a thread's cells of series that are used together are
  // neighbours.
  const auto count = static_cast<size_t>(std::count_if(values.begin(), values.end(), is_new));
  if (count != 0) blocks_.push_back(std::make_unique<MetricCellBlock>(count * shape_.Cells()));
  size_t made = 0;
  std::vector<Reserved> reserved;
  reserved.reserve(values.size());
  for (const LabelValues& of_series : values) {
    const auto [entry, is_made] = series_.try_emplace(of_series);
    Series& series = entry->second;
    if (is_made) series.first = blocks_.back()->At(made++ * shape_.Cells());
    reserved.emplace_back(Handle(series.first, &shape_), &series.is_shown);
  }
  return reserved;
}

template <typename Handle>
std::vector<MetricSample> MetricFamily<Handle>::Read() const {
  std::lock_guard lock(mutex_);
  std::vector<MetricSample> samples;
  for (const auto& [values, series] : series_) {
    if (LoadRelaxed(series.is_shown)) {
      samples.push_back(ReadSample(values, Handle(series.first, &shape_)));
    }
  }
  return samples;
}

template <typename Handle>
void MetricFamily<Handle>::Clear() const {
  std::lock_guard lock(mutex_);
  for (const auto& block : blocks_) block->Clear();
}

template <typename Handle>
DenseMetricFamily<Handle>::DenseMetricFamily(MetricDescription description, Shape shape,
                                             std::vector<LabelValues> values, Zeros zeros)
    : MetricFamilyBase(std::move(description), Handle::kKind),
      shape_(std::move(shape)),
      values_(std::move(values)),
      zeros_(zeros),
      series_count_(Product(values_)),
      cells_per_series_(shape_.Cells()),
      cells_(series_count_ * cells_per_series_) {
  SCHEDQ_CHECK(values_.size() == this->description().labels.size(),
               "a dense family needs the values of each label");
}

template <typename Handle>
LabelValues DenseMetricFamily<Handle>::ValuesOf(size_t series) const {
  LabelValues values(values_.size());
  for (size_t label = values_.size(); label-- > 0;) {
    values[label] = values_[label][series % values_[label].size()];
    series /= values_[label].size();
  }
  return values;
}

template <typename Handle>
std::vector<MetricSample> DenseMetricFamily<Handle>::Read() const {
  std::vector<MetricSample> samples;
  for (size_t series = 0; series < series_count_; ++series) {
    MetricSample sample = ReadSample(LabelValues(), AtSeries(series));
    if (zeros_ == Zeros::kHide && sample.value == 0) continue;
    sample.label_values = ValuesOf(series);
    samples.push_back(std::move(sample));
  }
  return samples;
}

template <typename Handle>
std::optional<MetricSample> DenseMetricFamily<Handle>::ReadOne(const LabelValues& values) const {
  if (values.size() != values_.size()) return std::nullopt;
  size_t series = 0;
  for (size_t label = 0; label < values_.size(); ++label) {
    const LabelValues& known = values_[label];
    const auto found = std::find(known.begin(), known.end(), values[label]);
    if (found == known.end()) return std::nullopt;
    series = series * known.size() + static_cast<size_t>(found - known.begin());
  }
  MetricSample sample = ReadSample(values, AtSeries(series));
  if (zeros_ == Zeros::kHide && sample.value == 0) return std::nullopt;
  return sample;
}

template class MetricFamily<Counter>;
template class MetricFamily<Gauge>;
template class MetricFamily<Histogram>;
template class DenseMetricFamily<Counter>;
template class DenseMetricFamily<Gauge>;
template class DenseMetricFamily<Histogram>;
template class DenseMetricFamily<Population>;

CallbackGaugeFamily::Registration::~Registration() {
  if (family_ == nullptr) return;
  std::lock_guard lock(family_->mutex_);
  family_->callbacks_.erase(values_);
}

CallbackGaugeFamily::Registration::Registration(Registration&& other) noexcept
    : family_(std::exchange(other.family_, nullptr)), values_(std::move(other.values_)) {}

CallbackGaugeFamily::Registration& CallbackGaugeFamily::Registration::operator=(
    Registration&& other) noexcept {
  std::swap(family_, other.family_);
  std::swap(values_, other.values_);
  return *this;
}

CallbackGaugeFamily::Registration CallbackGaugeFamily::Register(LabelValues values,
                                                                std::function<double()> callback) {
  SCHEDQ_CHECK(values.size() == description().labels.size(), "one value for each label");
  std::lock_guard lock(mutex_);
  const bool added = callbacks_.emplace(values, std::move(callback)).second;
  SCHEDQ_CHECK(added, "a series has one callback at a time");
  return {this, std::move(values)};
}

std::vector<MetricSample> CallbackGaugeFamily::Read() const {
  std::lock_guard lock(mutex_);
  std::vector<MetricSample> samples;
  for (const auto& [values, callback] : callbacks_) {
    samples.push_back({.label_values = values, .value = callback(), .histogram = {}});
  }
  return samples;
}

template <typename Family, typename... Arguments>
Family& MetricsRegistry::FindOrMake(MetricDescription description, Arguments&&... arguments) {
  std::lock_guard lock(mutex_);
  const auto found = families_.find(description.name);
  if (found != families_.end()) {
    auto* const family = dynamic_cast<Family*>(found->second.get());
    SCHEDQ_CHECK(family != nullptr && family->description().labels == description.labels,
                 "a metric's name stands for one kind of family with one list of labels");
    return *family;
  }
  const std::string name = description.name;
  auto made =
      std::make_unique<Family>(std::move(description), std::forward<Arguments>(arguments)...);
  Family& family = *made;
  families_.emplace(name, std::move(made));
  return family;
}

CounterFamily& MetricsRegistry::Counters(MetricDescription description) {
  return FindOrMake<CounterFamily>(std::move(description), Counter::Shape());
}
GaugeFamily& MetricsRegistry::Gauges(MetricDescription description) {
  return FindOrMake<GaugeFamily>(std::move(description), Gauge::Shape());
}
HistogramFamily& MetricsRegistry::Histograms(MetricDescription description,
                                             std::vector<double> bounds) {
  return FindOrMake<HistogramFamily>(std::move(description), Histogram::Shape(std::move(bounds)));
}

DenseCounterFamily& MetricsRegistry::DenseCounters(MetricDescription description,
                                                   const std::vector<LabelValues>& values,
                                                   Zeros zeros) {
  return FindOrMake<DenseCounterFamily>(std::move(description), Counter::Shape(), values, zeros);
}
DenseGaugeFamily& MetricsRegistry::DenseGauges(MetricDescription description,
                                               const std::vector<LabelValues>& values,
                                               Zeros zeros) {
  return FindOrMake<DenseGaugeFamily>(std::move(description), Gauge::Shape(), values, zeros);
}
DensePopulationFamily& MetricsRegistry::DensePopulations(MetricDescription description,
                                                         const std::vector<LabelValues>& values,
                                                         Zeros zeros) {
  return FindOrMake<DensePopulationFamily>(std::move(description), Population::Shape(), values,
                                           zeros);
}
DenseHistogramFamily& MetricsRegistry::DenseHistograms(MetricDescription description,
                                                       std::vector<double> bounds,
                                                       const std::vector<LabelValues>& values,
                                                       Zeros zeros) {
  return FindOrMake<DenseHistogramFamily>(std::move(description),
                                          Histogram::Shape(std::move(bounds)), values, zeros);
}

CallbackGaugeFamily& MetricsRegistry::CallbackGauges(MetricDescription description) {
  return FindOrMake<CallbackGaugeFamily>(std::move(description));
}

void MetricsRegistry::Clear() const {
  std::lock_guard lock(mutex_);
  for (const auto& [name, family] : families_) family->Clear();
}

std::vector<const MetricFamilyBase*> MetricsRegistry::Families() const {
  std::lock_guard lock(mutex_);
  std::vector<const MetricFamilyBase*> families;
  for (const auto& [name, family] : families_) families.push_back(family.get());
  return families;
}

const MetricFamilyBase* MetricsRegistry::Find(std::string_view name) const {
  std::lock_guard lock(mutex_);
  const auto found = families_.find(name);
  return found == families_.end() ? nullptr : found->second.get();
}

std::optional<MetricSample> MetricsRegistry::SampleAt(std::string_view name,
                                                      const LabelValues& values) const {
  const MetricFamilyBase* const family = Find(name);
  if (family == nullptr) return std::nullopt;
  return family->ReadOne(values);
}

std::optional<double> MetricsRegistry::Value(std::string_view name,
                                             const LabelValues& values) const {
  const std::optional<MetricSample> sample = SampleAt(name, values);
  return sample ? std::optional(sample->value) : std::nullopt;
}

std::optional<HistogramValue> MetricsRegistry::HistogramAt(std::string_view name,
                                                           const LabelValues& values) const {
  const MetricFamilyBase* const family = Find(name);
  if (family == nullptr || family->kind() != MetricKind::kHistogram) return std::nullopt;
  std::optional<MetricSample> sample = SampleAt(name, values);
  return sample ? std::optional(std::move(sample->histogram)) : std::nullopt;
}

}  // namespace schedq
