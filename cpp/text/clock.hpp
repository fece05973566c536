// The parts of a time that were read from text, and the moment they name.
#pragma once
#include <array>
#include <cstdint>
#include <optional>

namespace amudai::text {

// Parts that a text does not name keep these values. A time without a year is one of the leap year 2000.
struct Clock {
    std::int32_t year = 2000;
    std::int32_t month = 1;
    std::int32_t day = 1;
    std::int32_t hour = 0;
    std::int32_t minute = 0;
    std::int32_t second = 0;
    std::int32_t nanos = 0;
    std::int32_t zone_minutes = 0;
    std::int64_t epoch_seconds = 0;
    bool is_afternoon = false;
    bool has_half_day = false;
    bool has_zone = false;
    bool has_epoch = false;
    bool is_there = false;
};

struct Moment {
    std::int64_t value;
    bool is_cut;  // digits of the fraction were dropped that are not zero
};

constexpr bool is_leap(std::int32_t year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

constexpr std::int32_t days_of_month(std::int32_t year, std::int32_t month) {
    constexpr std::array<std::int32_t, 12> days{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return days[static_cast<std::size_t>(month - 1)] + (month == 2 && is_leap(year));
}

// Days from 1970-01-01 to a date of the Gregorian calendar. Years begin in March here: a leap day is their last day.
constexpr std::int64_t days_from_1970(std::int32_t year, std::int32_t month, std::int32_t day) {
    const std::int64_t from_march = year - (month <= 2);
    const std::int64_t era = (from_march >= 0 ? from_march : from_march - 399) / 400;
    const std::int64_t year_of_era = from_march - era * 400;
    const std::int64_t day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719468;
}

// Days from 1970-01-01. Remembers the latest date: the lines of a log are mostly of the same day.
class Calendar {
public:
    std::int64_t days(std::int32_t year, std::int32_t month, std::int32_t day) {
        if (year != year_ || month != month_ || day != day_) {
            year_ = year, month_ = month, day_ = day;
            days_ = days_from_1970(year, month, day);
        }
        return days_;
    }

private:
    std::int32_t year_ = 1970, month_ = 1, day_ = 1;
    std::int64_t days_ = 0;
};

// Units from 1970, where a second has `per_second` units (10^6 or 10^9); nothing if the parts are no valid time. The
// second 60 is the first of the next minute.
inline std::optional<Moment> moment_of(const Clock& clock, std::int64_t per_second, Calendar& calendar) {
    if (!clock.is_there) return std::nullopt;
    std::int64_t seconds = clock.epoch_seconds;
    if (!clock.has_epoch) {
        if (clock.month < 1 || clock.month > 12 || clock.day < 1) return std::nullopt;
        if (clock.day > days_of_month(clock.year, clock.month)) return std::nullopt;
        if (clock.minute > 59 || clock.second > 60) return std::nullopt;
        auto hour = clock.hour;
        if (clock.has_half_day) {
            if (hour < 1 || hour > 12) return std::nullopt;
            hour = hour % 12 + (clock.is_afternoon ? 12 : 0);
        }
        if (hour > 23) return std::nullopt;
        seconds = calendar.days(clock.year, clock.month, clock.day) * 86400 + (hour * 60 + clock.minute) * 60 + clock.second;
        seconds -= clock.zone_minutes * 60;
    }
    // What int64 holds in nanoseconds, rounded to whole seconds. Microseconds of four digits of a year always fit.
    constexpr std::int64_t most = 9'223'372'035;
    if (per_second == 1'000'000'000 && (seconds < -most || seconds > most)) return std::nullopt;
    if (per_second == 1'000'000'000) return Moment{seconds * 1'000'000'000 + clock.nanos, false};
    return Moment{seconds * 1'000'000 + clock.nanos / 1'000, clock.nanos % 1'000 != 0};
}

}  // namespace amudai::text
