// Dates, times and time spans as ISO 8601 writes them.
#pragma once
#include "exports/digits.hpp"

namespace amudai::exports {

// No function of this file writes more bytes.
inline constexpr std::size_t max_time = 64;

// The unit of a count: a second has this many digits behind the point, 0, 3, 6 or 9.
struct Unit {
    unsigned digits = 0;

    std::int64_t per_second() const { return static_cast<std::int64_t>(detail::powers[digits]); }
};

namespace detail {

struct Divided {
    std::int64_t whole;
    std::int64_t rest;  // from 0 on
};

inline Divided divide_down(std::int64_t number, std::int64_t by) {
    const auto whole = number / by, rest = number % by;
    return rest < 0 ? Divided{whole - 1, rest + by} : Divided{whole, rest};
}

// Writes HH:MM:SS, with more digits if there are a hundred hours or more.
inline std::uint8_t* put_clock(std::uint8_t* to, std::uint64_t seconds) {
    const auto hours = seconds / 3600;
    to = hours < 100 ? put_pair(to, hours) : put_unsigned(to, hours);
    *to++ = ':';
    to = put_pair(to, seconds / 60 % 60);
    *to++ = ':';
    return put_pair(to, seconds % 60);
}

inline std::uint8_t* put_fraction(std::uint8_t* to, std::uint64_t part, Unit unit) {
    if (unit.digits == 0) return to;
    *to++ = '.';
    return put_padded(to, part, unit.digits);
}

}  // namespace detail

// Writes days from 1970-01-01 on as YYYY-MM-DD. Years before 0 have a sign, years after 9999 have more digits.
inline std::uint8_t* put_date(std::uint8_t* to, std::int64_t days) {
    // The calendar repeats after 400 years. Counted from 1 March of year 0, leap days are the last days of years.
    const auto [era, day] = detail::divide_down(days + 719468, 146097);
    const auto year_of_era = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    const auto day_of_year = day - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    const auto month_from_march = (5 * day_of_year + 2) / 153;
    const auto day_of_month = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    const auto month = month_from_march < 10 ? month_from_march + 3 : month_from_march - 9;
    const auto year = year_of_era + 400 * era + (month <= 2);
    if (year < 0) *to++ = '-';
    const auto size = magnitude(year);
    to = size < 10'000 ? put_padded(to, size, 4) : put_unsigned(to, size);
    *to++ = '-';
    to = put_pair(to, static_cast<std::uint64_t>(month));
    *to++ = '-';
    return put_pair(to, static_cast<std::uint64_t>(day_of_month));
}

// Writes a time of day.
inline std::uint8_t* put_time(std::uint8_t* to, std::int64_t count, Unit unit) {
    const auto per_second = static_cast<std::uint64_t>(unit.per_second()), size = magnitude(count);
    if (count < 0) *to++ = '-';
    return detail::put_fraction(detail::put_clock(to, size / per_second), size % per_second, unit);
}

// Writes a point in time, without a zone or with the offset of a zone that is `minutes` ahead of UTC.
inline std::uint8_t* put_instant(std::uint8_t* to, std::int64_t count, Unit unit, bool has_zone, std::int32_t minutes) {
    auto [seconds, part] = detail::divide_down(count, unit.per_second());
    if (__builtin_add_overflow(seconds, std::int64_t{60} * minutes, &seconds)) {
        seconds = count;  // billions of years away: written in UTC
        minutes = 0;
    }
    const auto [days, clock] = detail::divide_down(seconds, 86'400);
    to = put_date(to, days);
    *to++ = 'T';
    to = detail::put_clock(to, static_cast<std::uint64_t>(clock));
    to = detail::put_fraction(to, static_cast<std::uint64_t>(part), unit);
    if (!has_zone) return to;
    if (minutes == 0) {
        *to++ = 'Z';
        return to;
    }
    const auto ahead = magnitude(minutes);
    *to++ = minutes < 0 ? '-' : '+';
    to = put_padded(to, ahead / 60, 2);
    *to++ = ':';
    return put_pair(to, ahead % 60);
}

// Writes a time span in seconds: -PT1.5S.
inline std::uint8_t* put_duration(std::uint8_t* to, std::int64_t count, Unit unit) {
    const auto per_second = static_cast<std::uint64_t>(unit.per_second()), size = magnitude(count);
    if (count < 0) *to++ = '-';
    *to++ = 'P';
    *to++ = 'T';
    to = put_unsigned(to, size / per_second);
    if (const auto part = size % per_second) {
        to = detail::put_fraction(to, part, unit);
        while (to[-1] == '0') --to;
    }
    *to++ = 'S';
    return to;
}

}  // namespace amudai::exports
