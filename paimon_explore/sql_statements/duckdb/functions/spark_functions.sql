-- Functions of the database: those of Spark that DuckDB lacks or computes in another way, in the
-- schema `spark`, and what the translation of a query calls, by the prefix `spark_`.
--
-- Casts to integers drop the fraction, where DuckDB rounds. Texts that Spark refuses are quoted, so
-- that DuckDB refuses them too.
CREATE MACRO spark_whole(x STRUCT("value" BLOB, metadata BLOB)) AS spark_variant_whole(x),
    (x DOUBLE) AS trunc(x), (x FLOAT) AS trunc(x),
    (x DECIMAL(38, 19)) AS trunc(x), (x TIMESTAMPTZ) AS spark_quotient(epoch_us(x), 1000000),
    (x VARCHAR) AS CASE WHEN regexp_full_match(x, '\s*[+-]?[0-9]+\s*') THEN x
        ELSE '"' || x || '"' END,
    (x BIGINT) AS x, (x HUGEINT) AS x, (x BOOLEAN) AS x, (x DATE) AS x, (x TIMESTAMP) AS x,
    (x INTERVAL) AS CASE WHEN spark_fail('datediff and timestampdiff return intervals as numbers.') THEN 0 END;
CREATE MACRO spark_quotient(x, n) AS (x - (x % n + n) % n) // n;
CREATE MACRO spark_real(x STRUCT("value" BLOB, metadata BLOB)) AS spark_variant_real(x),
    (x DOUBLE) AS x, (x BOOLEAN) AS x, (x DATE) AS x, (x TIMESTAMP) AS x,
    (x TIMESTAMPTZ) AS epoch(x),
    (x VARCHAR) AS CASE WHEN contains(x, '_') THEN '"' || x || '"'
        ELSE regexp_replace(x, '([0-9.])[dDfF](\s*)$', '\1\2') END;
-- By the type of the first argument. The digits of a number are those of its text, with one more
-- than the scale, by which it is rounded: DuckDB takes microseconds for many more.
CREATE MACRO spark_digits(x, scale) AS CASE WHEN abs(x) BETWEEN 0.001 AND 1e15
    THEN regexp_extract(CAST(x AS VARCHAR), '-?[0-9]+.[0-9]{0,' || (scale + 1) || '}')
    WHEN isfinite(x) THEN CAST(x AS VARCHAR) END;
CREATE MACRO spark_decimal(v DOUBLE, x, scale) AS spark_digits(x, scale),
    (v FLOAT, x, scale) AS spark_digits(CAST(x AS DOUBLE), scale),
    (v TIMESTAMPTZ, x, scale) AS epoch_us(x) * CAST(0.000001 AS DECIMAL(7, 6)),
    (v BIGINT, x, scale) AS x, (v HUGEINT, x, scale) AS x, (v DECIMAL(38, 19), x, scale) AS x,
    (v, x, scale) AS x;
CREATE MACRO spark_boolean(x STRUCT("value" BLOB, metadata BLOB)) AS spark_variant_boolean(x),
    (x VARCHAR) AS trim(x, ' ' || chr(9) || chr(10) || chr(11) || chr(12) || chr(13)),
    (x DOUBLE) AS x <> 0, (x BOOLEAN) AS x;
CREATE MACRO spark_date(x STRUCT("value" BLOB, metadata BLOB)) AS spark_variant_date(x),
    (x DATE) AS x, (x TIMESTAMP) AS x, (x TIMESTAMPTZ) AS x,
    (x VARCHAR) AS CASE WHEN regexp_full_match(x, '\s*[0-9]{4}\s*') THEN trim(x) || '-01-01'
        WHEN regexp_full_match(x, '\s*[0-9]{4}-[0-9]{1,2}\s*') THEN trim(x) || '-01'
        WHEN x LIKE '%-%-%' THEN regexp_replace(x, '([0-9]-[0-9]+-[0-9]+)[T ].*', '\1')
        ELSE '"' || x || '"' END;
CREATE MACRO positive(x) AS x;
CREATE MACRO negative(x) AS -x;
CREATE MACRO nanvl(x, y) AS CASE WHEN isnan(x) THEN y ELSE x END;
CREATE MACRO hypot(x, y) AS sqrt(pow(x, 2) + pow(y, 2));
CREATE MACRO rint(x) AS round_even(CAST(x AS DOUBLE), 0);
CREATE MACRO "get"(a, n) AS CASE WHEN n >= 0 THEN list_extract(a, CAST(n AS BIGINT) + 1) END;
CREATE MACRO arrays_overlap(a, b) AS CASE WHEN list_has_any(a, b) THEN true
    WHEN len(a) * len(b) = 0 OR list_count(a) + list_count(b) = len(a) + len(b) THEN false END;
CREATE MACRO array_repeat(x, n) AS list_transform(range(n), lambda i : x);
CREATE MACRO spark_distinct(a) AS list_filter(a, lambda x, i : list_position(a, x) = i);
CREATE MACRO array_union(a, b) AS
    CASE WHEN a IS NOT NULL AND b IS NOT NULL THEN spark_distinct(list_concat(a, b)) END;
CREATE MACRO timestamp_millis(x) AS make_timestamptz(CAST(x AS BIGINT) * 1000);
CREATE MACRO timestamp_micros(x) AS make_timestamptz(x);
CREATE MACRO make_timestamp_ntz(y, m, d, h, n, s) AS make_timestamp(y, m, d, h, n, s);
CREATE MACRO find_in_set(x, list) AS CASE WHEN x IS NOT NULL AND list IS NOT NULL
    THEN coalesce(list_position(string_split(list, ','), x), 0) END;
CREATE MACRO spark_le4(n) AS
    printf('%02X%02X%02X%02X', n & 255, (n >> 8) & 255, (n >> 16) & 255, (n >> 24) & 255);
CREATE MACRO spark_int4(h, p) AS TRY_CAST('0x' || substr(h, p + 6, 2)
    || substr(h, p + 4, 2) || substr(h, p + 2, 2) || substr(h, p, 2) AS BIGINT);
CREATE MACRO spark_int8(h, p) AS spark_int4(h, p) + 4294967296 * (spark_int4(h, p + 8)
    - CASE WHEN spark_int4(h, p + 8) > 2147483647 THEN 4294967296 ELSE 0 END);
CREATE MACRO path_to_descriptor(path) AS unhex('0243534544424F4C42'
    || spark_le4(octet_length(encode(path))) || hex(path) || repeat('0', 16) || repeat('F', 16));
CREATE MACRO spark_descriptor(h, p, n) AS format(
    'BlobDescriptor{{version={}, uri=''{}'', offset={}, length={}}}', substr(h, 2, 1),
    decode(unhex(substr(h, p, n))), spark_int8(h, p + n), spark_int8(h, p + n + 16));
CREATE MACRO descriptor_to_string(d) AS CASE WHEN hex(d) LIKE '01%'
    THEN spark_descriptor(hex(d), 11, 2 * spark_int4(hex(d), 3))
    ELSE spark_descriptor(hex(d), 27, 2 * spark_int4(hex(d), 19)) END;
CREATE MACRO blob_view(name, field, row) AS unhex('0157454956424F4C42'
    || spark_le4(octet_length(encode(name))) || hex(name) || spark_le4(field)
    || spark_le4(row & 4294967295) || spark_le4(row >> 32));
CREATE MACRO spark_pairs(parts, d) AS map_from_entries(list_transform(parts, lambda part :
    row(spark_split(part, d, 2)[1], spark_split(part, d, 2)[2])));
CREATE MACRO spark_scientific(digits, exponent) AS left(digits, 1) || '.' ||
    CASE WHEN length(digits) > 1 THEN substr(digits, 2) ELSE '0' END || 'E' || exponent;
CREATE MACRO spark_plain_text(t) AS CASE WHEN strpos(t, '.') > 8
    THEN spark_scientific(rtrim(replace(t, '.', ''), '0'), strpos(t, '.') - 2)
    WHEN t LIKE '0.000%' THEN spark_scientific(ltrim(substr(t, 3), '0'),
        length(ltrim(substr(t, 3), '0')) - length(t) + 1)
    ELSE t END;
CREATE MACRO spark_number_text(t) AS CASE
    WHEN t LIKE '%nan' THEN 'NaN' WHEN NOT regexp_matches(t, '[0-9]') OR t IN ('0.0', '-0.0')
    THEN replace(replace(t, 'inf', 'Infinity'), 'Infinityinity', 'Infinity')
    WHEN contains(t, 'e') THEN (CASE WHEN t LIKE '-%' THEN '-' ELSE '' END) || spark_scientific(
        regexp_replace(split_part(t, 'e', 1), '[-.]', '', 'g'), split_part(t, 'e', 2)::INT)
    WHEN t LIKE '-%' THEN '-' || spark_plain_text(substr(t, 2)) ELSE spark_plain_text(t) END;
-- Seconds since 1970 of a time without a zone, which UTC has.
CREATE MACRO spark_instant(x VARCHAR) AS CAST(spark_moment(x) AS TIMESTAMPTZ), (x TIMESTAMP) AS x,
    (x DATE) AS CAST(x AS TIMESTAMPTZ), (x TIMESTAMPTZ) AS x;
-- A time with its fields, of a text, and of an interval whose days are multiples of 24 hours.
CREATE MACRO spark_fields(x VARCHAR) AS CAST(spark_moment(x) AS TIMESTAMPTZ), (x INTERVAL) AS
    to_months(spark_interval_months(x)) + spark_day_time(epoch_us(x - to_months(spark_interval_months(x)))),
    (x DATE) AS x, (x TIMESTAMP) AS x, (x TIMESTAMPTZ) AS x, (x TIME) AS x;
CREATE MACRO spark_day_time(n) AS
    to_days(CAST(n // 86400000000 AS INTEGER)) + to_microseconds(n % 86400000000);
CREATE MACRO spark_century(x) AS CASE WHEN year(x) < 2000 THEN x + to_years(100) ELSE x END;
CREATE MACRO spark_last_whole_day(a, b) AS CAST(b AS DATE)
    - CASE WHEN b::DATE > a::DATE AND b::TIME < a::TIME THEN 1 ELSE 0 END
    + CASE WHEN b::DATE < a::DATE AND b::TIME > a::TIME THEN 1 ELSE 0 END;
CREATE MACRO spark_month_days(d) AS (12 * year(d) + month(d)) * 32 + day(d);
CREATE MACRO spark_whole_months(a, b) AS
    (spark_month_days(spark_last_whole_day(a, b)) - spark_month_days(a)) // 32;
CREATE MACRO spark.add_months(d, n) AS CAST(CAST(d AS DATE) + to_months(n) AS DATE);
CREATE MACRO spark_months(a, b) AS 12 * (year(a) - year(b)) + month(a) - month(b)
    + CASE WHEN day(a) = day(b) OR (a::DATE = last_day(a) AND b::DATE = last_day(b)) THEN 0
    ELSE (day(a) - day(b)) / 31 + (floor(epoch(a::TIME)) - floor(epoch(b::TIME))) / 2678400 END;
CREATE MACRO spark.months_between(a, b) AS round(spark_months(a::TIMESTAMP, b::TIMESTAMP), 8),
    (a, b, rounds) AS CASE WHEN rounds THEN round(spark_months(a::TIMESTAMP, b::TIMESTAMP), 8)
    ELSE spark_months(a::TIMESTAMP, b::TIMESTAMP) END;
CREATE MACRO spark.last_day(d) AS last_day(CAST(d AS DATE));
CREATE MACRO spark.hour(x) AS CAST(hour(CAST(x AS TIMESTAMP)) AS INTEGER);
CREATE MACRO spark.minute(x) AS CAST(minute(CAST(x AS TIMESTAMP)) AS INTEGER);
CREATE MACRO spark.second(x) AS CAST(second(CAST(x AS TIMESTAMP)) AS INTEGER);
CREATE MACRO spark.weekday(x) AS CAST(isodow(CAST(x AS DATE)) - 1 AS INTEGER);
CREATE MACRO spark.dayname(x) AS left(dayname(CAST(x AS DATE)), 3);
CREATE MACRO spark.monthname(x) AS left(monthname(CAST(x AS DATE)), 3);
CREATE MACRO spark_date_unit(u) AS CASE WHEN u IN ('YEAR', 'YYYY', 'YY') THEN 'YEAR'
    WHEN u IN ('MONTH', 'MM', 'MON') THEN 'MONTH' WHEN u IN ('QUARTER', 'WEEK') THEN u END;
CREATE MACRO spark_time_unit(u) AS CASE WHEN u IN ('DAY', 'DD') THEN 'DAY' WHEN u IN ('HOUR',
    'MINUTE', 'SECOND', 'MILLISECOND', 'MICROSECOND') THEN u ELSE spark_date_unit(u) END;
CREATE MACRO spark.trunc(d, unit) AS
    CAST(date_trunc(spark_date_unit(upper(unit)), CAST(d AS DATE)) AS DATE);
CREATE MACRO spark.date_trunc(unit, x) AS
    CAST(date_trunc(spark_time_unit(upper(unit)), CAST(x AS TIMESTAMP)) AS TIMESTAMPTZ);
CREATE MACRO spark.from_utc_timestamp(x, zone) AS
    CAST(CAST(x AS TIMESTAMP) AT TIME ZONE 'UTC' AT TIME ZONE zone AS TIMESTAMPTZ);
CREATE MACRO spark.to_utc_timestamp(x, zone) AS
    CAST(CAST(x AS TIMESTAMP) AT TIME ZONE zone AT TIME ZONE 'UTC' AS TIMESTAMPTZ);
CREATE MACRO spark.convert_timezone(target, x) AS CAST(x AS TIMESTAMPTZ) AT TIME ZONE target,
    (source, target, x) AS CAST(x AS TIMESTAMP) AT TIME ZONE source AT TIME ZONE target;
CREATE MACRO spark.make_timestamp(y, m, d, h, n, s) AS
    CAST(make_timestamp(y, m, d, h, n, s) AS TIMESTAMPTZ), (y, m, d, h, n, s, zone) AS
    make_timestamp(y, m, d, h, n, s) AT TIME ZONE zone;
CREATE MACRO spark.make_timestamp_ltz(y, m, d, h, n, s) AS spark.make_timestamp(y, m, d, h, n, s),
    (y, m, d, h, n, s, zone) AS spark.make_timestamp(y, m, d, h, n, s, zone);
CREATE MACRO spark.try_make_timestamp(y, m, d, h, n, s) AS
    TRY(spark.make_timestamp(y, m, d, h, n, s)), (y, m, d, h, n, s, zone) AS
    TRY(spark.make_timestamp(y, m, d, h, n, s, zone));
CREATE MACRO spark.try_make_timestamp_ltz(y, m, d, h, n, s) AS
    TRY(spark.make_timestamp(y, m, d, h, n, s)), (y, m, d, h, n, s, zone) AS
    TRY(spark.make_timestamp(y, m, d, h, n, s, zone));
CREATE MACRO spark.try_make_timestamp_ntz(y, m, d, h, n, s) AS
    TRY(make_timestamp(y, m, d, h, n, s));
CREATE MACRO spark.make_dt_interval(d := 0, h := 0, n := 0, s := 0) AS
    to_days(d) + to_hours(h) + to_minutes(n) + to_seconds(s);
-- One match of a path with a wildcard is its value, several are an array.
CREATE MACRO spark_json_matches(a) AS CASE len(a) WHEN 0 THEN NULL WHEN 1 THEN CAST(a[1] AS VARCHAR)
    ELSE '[' || array_to_string(a, ',') || ']' END;
CREATE MACRO spark_valid_json(x) AS CASE WHEN json_valid(x) THEN x END;
-- The i-th value is `a + i * step`, as months differ in length.
CREATE MACRO spark_interval_months(i) AS 12 * date_part('year', i) + date_part('month', i);
CREATE MACRO spark_times(a, b, step) AS CASE WHEN spark_interval_months(step) = 0
    THEN generate_series(a, b, step) ELSE list_filter(list_transform(range(1 +
    abs(date_diff('month', a, b) // spark_interval_months(step))), lambda i : a + i * step),
    lambda x : CASE WHEN a + step > a THEN x <= b ELSE x >= b END) END;
CREATE MACRO spark_days(a, b) AS spark_times(a, b, to_days(CASE WHEN a > b THEN -1 ELSE 1 END));
CREATE MACRO spark_sequence(x) AS CASE WHEN spark_fail_if(len(x) = 0,
    'sequence has a step of 0, or in the other direction than its end.') THEN NULL ELSE x END;
CREATE MACRO spark.sequence(a DATE, b DATE, step) AS CASE WHEN spark_fail_if(
    a + step <> CAST(a + step AS DATE), 'The step of a sequence of dates must consist of days.')
    THEN NULL ELSE spark_sequence(CAST(spark_times(a, b, step) AS DATE[])) END,
    (a DATE, b DATE) AS CAST(spark_days(a, b) AS DATE[]),
    (a TIMESTAMP, b TIMESTAMP, step) AS spark_sequence(spark_times(a, b, step)),
    (a TIMESTAMP, b TIMESTAMP) AS spark_days(a, b),
    (a TIMESTAMPTZ, b TIMESTAMPTZ, step) AS spark_sequence(spark_times(a, b, step)),
    (a TIMESTAMPTZ, b TIMESTAMPTZ) AS spark_days(a, b),
    (a INTEGER, b INTEGER) AS
    CAST(generate_series(a, b, CASE WHEN a > b THEN -1 ELSE 1 END) AS INTEGER[]),
    (a INTEGER, b INTEGER, step) AS
    spark_sequence(CAST(generate_series(a, b, step) AS INTEGER[])),
    (a, b) AS generate_series(a, b, CASE WHEN a > b THEN -1 ELSE 1 END),
    (a, b, step) AS spark_sequence(generate_series(a, b, step));
CREATE MACRO spark_beside(x VARCHAR, o BIGINT) AS CAST(spark_whole(x) AS BIGINT),
    (x VARCHAR, o DOUBLE) AS CAST(spark_real(x) AS DOUBLE),
    (x VARCHAR, o DECIMAL(38, 6)) AS CAST(spark_real(x) AS DOUBLE),
    (x VARCHAR, o DATE) AS CAST(spark_date(x) AS DATE),
    (x VARCHAR, o TIMESTAMP) AS CAST(spark_moment(x) AS TIMESTAMP),
    (x VARCHAR, o TIMESTAMPTZ) AS CAST(spark_moment(x) AS TIMESTAMPTZ),
    (x VARCHAR, o VARCHAR) AS x, (x, o) AS x;
CREATE MACRO spark_moved_text(x, i) AS spark_shown(CAST(spark_moment(x) AS TIMESTAMPTZ) + i);
CREATE MACRO spark_moved(x DATE, i) AS CAST(x + i AS DATE),
    (x VARCHAR, i) AS spark_moved_text(x, i), (x, i) AS x + i;
CREATE MACRO spark_moved_months(x DATE, i) AS CAST(x + i AS DATE),
    (x VARCHAR, i) AS CASE WHEN spark_fail('An interval of months is not added to or subtracted from a text. Cast the text to DATE or TIMESTAMP.') THEN x END,
    (x, i) AS x + i;
CREATE MACRO spark_moved_time(x DATE, i) AS CAST(x AS TIMESTAMPTZ) + i,
    (x VARCHAR, i) AS spark_moved_text(x, i), (x, i) AS x + i;
-- The first arguments only have the types by which DuckDB chooses.
CREATE MACRO spark_minus(v DATE, w DATE, a, b) AS to_days(CAST(a - b AS INTEGER)),
    (v, w, a, b) AS a - b;
CREATE MACRO spark_long(x) AS CASE WHEN isnan(x) THEN 0 ELSE CAST(x AS BIGINT) END;
CREATE MACRO spark_floor(v BIGINT, x) AS CAST(x AS BIGINT),
    (v DOUBLE, x) AS spark_long(floor(x)), (v FLOAT, x) AS spark_long(floor(CAST(x AS DOUBLE))),
    (v DECIMAL(38, 19), x) AS floor(x), (v VARCHAR, x) AS spark_long(floor(CAST(x AS DOUBLE)));
CREATE MACRO spark_ceil(v BIGINT, x) AS CAST(x AS BIGINT),
    (v DOUBLE, x) AS spark_long(ceil(x)), (v FLOAT, x) AS spark_long(ceil(CAST(x AS DOUBLE))),
    (v DECIMAL(38, 19), x) AS ceil(x), (v VARCHAR, x) AS spark_long(ceil(CAST(x AS DOUBLE)));
-- Down or up to a multiple of a unit; DOUBLE has the digits that Spark counts.
CREATE MACRO spark_exact(v BIGINT, x) AS x, (v HUGEINT, x) AS x, (v DECIMAL(38, 19), x) AS x,
    (v DOUBLE, x) AS CAST(x AS DECIMAL(30, 15)), (v FLOAT, x) AS CAST(x AS DECIMAL(30, 15));
CREATE MACRO spark_floor_to(x, u) AS x - x % u - CASE WHEN x % u < 0 THEN u ELSE 0 END;
CREATE MACRO spark_ceil_to(x, u) AS x - x % u + CASE WHEN x % u > 0 THEN u ELSE 0 END;
CREATE MACRO spark_left(x BLOB, n) AS x[1:spark_positive(n)],
    (x, n) AS left(spark_shown(x), spark_positive(n));
CREATE MACRO spark_right(x, n) AS right(spark_shown(x), spark_positive(n));
CREATE MACRO spark_timestamp(x BIGINT) AS to_timestamp(x), (x DOUBLE) AS to_timestamp(x),
    (x DECIMAL(38, 6)) AS to_timestamp(CAST(x AS DOUBLE)), (x VARCHAR) AS spark_moment(x), (x) AS x;
-- Infinite times of DuckDB are no times of Spark.
CREATE MACRO spark_moment(x VARCHAR) AS
    CASE WHEN contains(lower(x), 'inf') THEN '"' || x || '"'
    WHEN regexp_full_match(x, '\s*[0-9]{4}(-[0-9]{1,2})?\s*') THEN spark_date(x) ELSE x END,
    (x) AS x;
-- DuckDB rounds nanoseconds in casts.
CREATE MACRO spark_micros(x) AS CAST(x AS TIMESTAMP)
    - to_microseconds(CAST(CAST(x AS TIMESTAMP) > x AS INTEGER));
CREATE MACRO spark_zoned_micros(x) AS CAST(x AS TIMESTAMPTZ)
    - to_microseconds(CAST(CAST(x AS TIMESTAMPTZ) > x AS INTEGER));
CREATE MACRO spark_nanos(x) AS CAST(x AS TIMESTAMP_NS);
CREATE MACRO spark_zoned_nanos(x) AS CAST(x AS TIMESTAMPTZ_NS);
CREATE MACRO spark.current_date() AS today();
CREATE MACRO spark.curdate() AS today();
CREATE MACRO spark.current_timestamp() AS now();
CREATE MACRO spark.localtimestamp() AS CAST(now() AS TIMESTAMP);
CREATE MACRO spark.localtime() AS CAST(CAST(now() AS TIMESTAMP) AS TIME);
CREATE MACRO spark_truncated(x, n) AS x - to_microseconds(epoch_us(x) % n);
CREATE MACRO spark.current_time() AS CAST(CAST(now() AS TIMESTAMP) AS TIME),
    (n) AS CAST(CAST(spark_truncated(now(), CAST(pow(10, 6 - n) AS BIGINT)) AS TIMESTAMP) AS TIME);
CREATE MACRO spark.substring_index(x, d, n) AS CASE WHEN d IS NULL THEN NULL
    WHEN n = 0 OR d = '' THEN left(x, 0) ELSE list_reduce(
    CASE WHEN n > 0 THEN list_slice(string_split(x, d), 1, n)
    ELSE list_slice(string_split(x, d), n, -1) END, lambda a, b : a || d || b) END;
CREATE MACRO spark_start(p, length) AS
    CASE WHEN p > 0 THEN p - 1 WHEN p < 0 THEN length + p ELSE p END;
CREATE MACRO spark_positive(x) AS CASE WHEN x < 0 THEN 0 ELSE x END;
CREATE MACRO spark_substring(x BLOB, p) AS x[spark_positive(spark_start(p, octet_length(x))) + 1:],
    (x BLOB, p, n) AS x[spark_positive(spark_start(p, octet_length(x))) + 1:
    spark_positive(spark_start(p, octet_length(x)) + n)],
    (x VARCHAR, p) AS substr(x, p),
    (x VARCHAR, p, n) AS spark_between(x, spark_start(p, length(x)), n),
    (x, p) AS substr(spark_shown(x), p),
    (x, p, n) AS spark_between(spark_shown(x), spark_start(p, length(spark_shown(x))), n);
CREATE MACRO spark_between(x, start, n) AS CASE WHEN start + n <= spark_positive(start) THEN left(x, 0)
    ELSE substr(x, spark_positive(start) + 1, start + n - spark_positive(start)) END;
CREATE MACRO spark.split_part(x, d, n) AS
    CASE WHEN d = '' THEN CASE WHEN n IN (1, -1) THEN x ELSE left(x, 0) END ELSE split_part(x, d, n) END;
CREATE MACRO spark.levenshtein(a, b) AS spark_levenshtein(a, b), (a, b, most) AS
    CASE WHEN spark_levenshtein(a, b) > most THEN -1 ELSE spark_levenshtein(a, b) END;
CREATE MACRO spark.chr(n) AS CASE WHEN n < 0 THEN '' ELSE chr(CAST(n % 256 AS INTEGER)) END;
CREATE MACRO spark.lpad(x BLOB, n) AS CASE WHEN spark_fail('lpad of BINARY needs Spark.') THEN '' END,
    (x BLOB, n, pad) AS CASE WHEN spark_fail('lpad of BINARY needs Spark.') THEN '' END,
    (x, n) AS lpad(spark_shown(x), n, ' '), (x, n, pad) AS CASE WHEN pad = '' OR n < 0
    THEN left(spark_shown(x), greatest(n, 0)) ELSE lpad(spark_shown(x), n, CAST(pad AS VARCHAR)) END;
CREATE MACRO spark.rpad(x BLOB, n) AS CASE WHEN spark_fail('rpad of BINARY needs Spark.') THEN '' END,
    (x BLOB, n, pad) AS CASE WHEN spark_fail('rpad of BINARY needs Spark.') THEN '' END,
    (x, n) AS rpad(spark_shown(x), n, ' '), (x, n, pad) AS CASE WHEN pad = '' OR n < 0
    THEN left(spark_shown(x), greatest(n, 0)) ELSE rpad(spark_shown(x), n, CAST(pad AS VARCHAR)) END;
CREATE MACRO spark.btrim(x) AS trim(x), (x, y) AS trim(x, y);
CREATE MACRO spark.replace(x, a) AS replace(spark_shown(x), a, ''),
    (x, a, b) AS replace(spark_shown(x), a, b);
CREATE MACRO spark.reverse(x VARCHAR) AS reverse(x), (x) AS list_reverse(x);
CREATE MACRO spark.length(x BLOB) AS CAST(octet_length(x) AS INTEGER),
    (x) AS CAST(length(spark_shown(x)) AS INTEGER);
CREATE MACRO spark.octet_length(x BLOB) AS CAST(octet_length(x) AS INTEGER),
    (x) AS CAST(strlen(spark_shown(x)) AS INTEGER);
CREATE MACRO spark_any(tests) AS CASE WHEN list_contains(tests, true) THEN true
    WHEN list_count(tests) = len(tests) THEN false END;
CREATE MACRO spark.array_contains(a, x) AS CASE WHEN x IS NOT NULL THEN
    CASE WHEN list_contains(a, x) THEN true WHEN list_count(a) = len(a) THEN false END END;
CREATE MACRO spark.array_remove(a, x) AS
    CASE WHEN x IS NOT NULL THEN list_filter(a, lambda y : y IS NULL OR y <> x) END;
CREATE MACRO spark.array_position(a, x) AS CASE WHEN a IS NOT NULL AND x IS NOT NULL
    THEN CAST(coalesce(list_position(a, x), 0) AS BIGINT) END;
CREATE MACRO spark.array_intersect(a, b) AS CASE WHEN b IS NOT NULL THEN
    spark_distinct(list_filter(a, lambda x : list_position(b, x) IS NOT NULL)) END;
CREATE MACRO spark.array_except(a, b) AS CASE WHEN b IS NOT NULL THEN
    spark_distinct(list_filter(a, lambda x : list_position(b, x) IS NULL)) END;
CREATE MACRO spark.array_insert(a, n, x) AS CASE WHEN a IS NULL OR n IS NULL THEN NULL
    WHEN n > len(a) THEN list_append(list_resize(a, n - 1), x)
    WHEN n > 0 THEN list_concat(list_append(a[1:n - 1], x), a[n:])
    WHEN spark_fail_if(n = 0, 'The index 0 of array_insert is invalid.') THEN NULL
    WHEN len(a) + n < 0 THEN list_concat(list_resize([x], -n - len(a)), a)
    ELSE list_concat(list_append(a[1:len(a) + n + 1], x), a[len(a) + n + 2:]) END;
CREATE MACRO spark.array_join(a, d) AS
    CASE WHEN a IS NOT NULL AND d IS NOT NULL THEN coalesce(array_to_string(
    list_transform(a, lambda x : spark_shown(x)), d), '') END,
    (a, d, n) AS array_to_string(list_transform(a, lambda x : coalesce(spark_shown(x), n)), d);
CREATE MACRO spark.json_array_length(x) AS CASE WHEN json_type(spark_valid_json(x)) = 'ARRAY'
    THEN CAST(json_array_length(spark_valid_json(x)) AS INTEGER) END;
CREATE MACRO spark.json_object_keys(x) AS
    CASE WHEN json_type(spark_valid_json(x)) = 'OBJECT' THEN json_keys(spark_valid_json(x)) END;
CREATE MACRO spark.unhex(x) AS CASE WHEN regexp_full_match(x, '[0-9A-Fa-f]*') THEN unhex(x) END;
CREATE MACRO spark.flatten(a) AS CASE WHEN list_count(a) = len(a) THEN flatten(a) END;
CREATE MACRO spark_outer(a) AS CASE WHEN len(a) > 0 THEN a ELSE [NULL] END;
CREATE MACRO spark.map_contains_key(m, k) AS list_contains(map_keys(m), k);
CREATE MACRO spark.pmod(a, n) AS
    CASE WHEN spark_fail_if(n = 0, 'Division by zero. Use try_mod to get NULL.') THEN NULL
    WHEN a % n < 0 THEN (a % n + n) % n ELSE a % n END;
CREATE MACRO spark.try_mod(a, b) AS CASE WHEN b <> 0 THEN a % b END;
CREATE MACRO spark.e() AS exp(1);
-- Without the loss of digits of 1 + x and e^x - 1 where x is small.
CREATE MACRO spark.log1p(x) AS CASE WHEN x BETWEEN -0.5 AND 0.5 THEN
    2 * atanh(CAST(x AS DOUBLE) / (2 + CAST(x AS DOUBLE))) WHEN x > -1 THEN ln(1 + CAST(x AS DOUBLE)) END;
CREATE MACRO spark.expm1(x) AS CASE WHEN x BETWEEN -0.5 AND 0.5 THEN
    2 * sinh(CAST(x AS DOUBLE) / 2) * exp(CAST(x AS DOUBLE) / 2) ELSE exp(x) - 1 END;
CREATE MACRO spark.csc(x) AS 1 / sin(x);
CREATE MACRO spark.sec(x) AS 1 / cos(x);
CREATE MACRO spark.ln(x) AS CASE WHEN x > 0 THEN ln(x) END;
CREATE MACRO spark.log2(x) AS CASE WHEN x > 0 THEN log2(x) END;
CREATE MACRO spark.log10(x) AS CASE WHEN x > 0 THEN log10(x) END;
CREATE MACRO spark.log(x) AS CASE WHEN x > 0 THEN ln(x) END,
    (b, x) AS CASE WHEN b > 0 AND x > 0 THEN ln(x) / ln(b) END;
-- A fit of values that do not vary is null, and that of values with NaN is NaN.
CREATE MACRO spark_fit(x, covariance) AS
    CASE WHEN isnan(covariance) THEN covariance ELSE nullif(x, CAST('nan' AS DOUBLE)) END;
CREATE MACRO spark_sign(x) AS CASE WHEN isnan(x) OR x = 0 THEN x ELSE CAST(sign(x) AS DOUBLE) END;
-- The first argument only has the type by which DuckDB chooses. A text has the digits that count.
CREATE MACRO spark_round(v BIGINT, x, n) AS round(x, n), (v HUGEINT, x, n) AS round(x, n),
    (v DECIMAL(38, 19), x, n) AS round(x, n), (v FLOAT, x, n) AS round(x, n) + 0,
    (v, x, n) AS list_transform([x], lambda y : spark_halves(y, n))[1];
CREATE MACRO spark_halves(x, n) AS CASE WHEN spark_is_half(abs(x) * pow(10, n)) AND abs(x) < 1e15
    THEN CAST(round(CAST(CAST(x AS VARCHAR) AS DECIMAL(38, 19)), n) AS DOUBLE)
    ELSE round(x, n) + 0 END;
CREATE MACRO spark_is_half(x) AS abs(x - floor(x) - 0.5::DOUBLE) < 1e-6 + x * 1e-15;
CREATE MACRO spark.zeroifnull(x) AS coalesce(x, CAST(0 AS INTEGER));
CREATE MACRO spark.nullifzero(x) AS nullif(x, 0);
CREATE MACRO spark_bits(x) AS CASE typeof(x)
    WHEN 'TINYINT' THEN 8 WHEN 'SMALLINT' THEN 16 WHEN 'INTEGER' THEN 32 ELSE 64 END;
CREATE MACRO spark_bit(x, n) AS CASE WHEN spark_fail_if(n < 0 OR n >= spark_bits(x),
    'A position of a bit is outside of the number.') THEN NULL ELSE CAST((x >> n) & 1 AS TINYINT) END;
CREATE MACRO spark.bit_get(x, n) AS spark_bit(x, n);
CREATE MACRO spark.getbit(x, n) AS spark_bit(x, n);
CREATE MACRO spark_elt(a, n) AS CASE WHEN spark_fail_if(n NOT BETWEEN 1 AND len(a),
    'The index of elt is outside of its texts.') THEN NULL ELSE list_extract(a, n) END;
-- Buckets of hours and less do not follow changes of clocks.
CREATE MACRO spark_time_bucket(width, t TIMESTAMP) AS time_bucket(width, t, TIMESTAMP '1970-01-01'),
    (width, t) AS CASE WHEN epoch_us(width) < 86400000000
    THEN time_bucket(width, CAST(t AS TIMESTAMPTZ), CAST(TIMESTAMP '1970-01-01' AS TIMESTAMPTZ))
    ELSE CAST(time_bucket(width, CAST(t AS TIMESTAMP), TIMESTAMP '1970-01-01') AS TIMESTAMPTZ) END;
CREATE MACRO spark.factorial(n) AS
    CASE WHEN n BETWEEN 0 AND 20 THEN CAST(factorial(n) AS BIGINT) END;
CREATE MACRO spark_bucket(x, width, n) AS CASE WHEN isnan(x) THEN NULL WHEN x < 0 THEN 0
    WHEN x >= width THEN n + 1 ELSE CAST(floor(n * x / width) + 1 AS BIGINT) END;
CREATE MACRO spark_buckets(x, low, high, n) AS CASE WHEN n <= 0 OR n = 9223372036854775807
    OR low = high OR isinf(low) OR isinf(high) THEN NULL
    WHEN low < high THEN spark_bucket(x - low, high - low, n)
    ELSE spark_bucket(low - x, low - high, n) END;
CREATE MACRO spark.width_bucket(x, low, high, n) AS CAST(spark_buckets(CAST(x AS DOUBLE),
    CAST(low AS DOUBLE), CAST(high AS DOUBLE), CAST(trunc(n) AS BIGINT)) AS BIGINT);
-- Bits that leave a number are dropped, and the shift is that modulo its length.
CREATE MACRO spark_int(x) AS CAST(((x + 2147483648) & 4294967295) - 2147483648 AS INTEGER);
CREATE MACRO spark_bigint(x) AS
    CAST(((x + 9223372036854775808) & 18446744073709551615::HUGEINT) - 9223372036854775808 AS BIGINT);
CREATE MACRO spark_shift_left(x INTEGER, n) AS spark_int(x::BIGINT * (1::BIGINT << (n & 31))),
    (x HUGEINT, n) AS spark_bigint(x * (1::HUGEINT << (n & 63)));
CREATE MACRO spark_shift_right(x INTEGER, n) AS CAST(x AS INTEGER) >> (n & 31),
    (x HUGEINT, n) AS CAST(x AS BIGINT) >> (n & 63);
CREATE MACRO spark.shiftrightunsigned(x INTEGER, n) AS
    spark_int((x::BIGINT & 4294967295) >> (n & 31)), (x HUGEINT, n) AS
    spark_bigint((x & 18446744073709551615::HUGEINT) >> (n & 63));
CREATE MACRO spark_locate(a, x, p) AS CASE WHEN p IS NULL THEN 0 WHEN a IS NULL OR x IS NULL
    THEN NULL WHEN p < 1 OR strpos(substr(x, p), a) = 0 THEN 0 WHEN a = '' THEN 1
    ELSE CAST(strpos(substr(x, p), a) + p - 1 AS INTEGER) END;
CREATE MACRO spark.ascii(x) AS ascii(spark_shown(x));
CREATE MACRO spark.base64(x) AS rtrim(regexp_replace(to_base64(spark_bytes(x)), '(.{76})',
    '\1' || chr(13) || chr(10), 'g'), chr(13) || chr(10));
CREATE MACRO spark.bit_length(x) AS 8 * spark.octet_length(x);
CREATE MACRO spark.regexp(x, pattern) AS regexp_matches(x, pattern);
CREATE MACRO spark.regexp_substr(x, pattern) AS
    nullif(regexp_extract(x, pattern), '');
CREATE MACRO spark.str_to_map(x) AS spark_pairs(spark_split(x, ',', -1), ':'),
    (x, d) AS spark_pairs(spark_split(x, d, -1), ':'), (x, d, e) AS spark_pairs(spark_split(x, d, -1), e);
CREATE MACRO variant_set(v, path, x) AS spark_variant_set(v, path, spark_variant(x), true),
    (v, path, x, creates) AS spark_variant_set(v, path, spark_variant(x), creates);
CREATE MACRO try_variant_set(v, path, x) AS
    spark_try_variant_set(v, path, spark_variant(x), true),
    (v, path, x, creates) AS spark_try_variant_set(v, path, spark_variant(x), creates);
CREATE MACRO spark_text(x STRUCT("value" BLOB, metadata BLOB)) AS spark_variant_text(x),
    (x) AS spark_shown(x);
CREATE MACRO spark_document(x STRUCT("value" BLOB, metadata BLOB)) AS
    CAST(spark_variant_text(x) AS JSON), (x) AS x;
CREATE MACRO spark_shown(x VARCHAR) AS x, (x) AS spark_written(x);
CREATE MACRO spark_written(x) AS CASE WHEN typeof(x) IN ('DOUBLE', 'FLOAT') THEN spark_number_text(CAST(x AS VARCHAR))
    WHEN typeof(x) = 'INTERVAL' AND spark_fail('A cast of an interval to STRING needs Spark.')
    THEN NULL WHEN typeof(x) = 'TIMESTAMP WITH TIME ZONE'
    THEN regexp_replace(CAST(x AS VARCHAR), '[+-][0-9:]+$', '')
    WHEN typeof(x) = 'BLOB' OR suffix(typeof(x), '[]')
    OR suffix(typeof(x), ')') AND NOT starts_with(typeof(x), 'DEC')
    THEN spark_nested_text(x) ELSE CAST(x AS VARCHAR) END;
-- Parts of a text that DuckDB would write otherwise, by the type of the first argument.
CREATE MACRO spark_part(v BIGINT, x) AS x, (v HUGEINT, x) AS x, (v DECIMAL(38, 19), x) AS x,
    (v DATE, x) AS x, (v TIMESTAMP, x) AS x, (v DOUBLE, x) AS spark_written(x),
    (v FLOAT, x) AS spark_written(x), (v TIMESTAMPTZ, x) AS spark_written(x), (v, x) AS x;
CREATE MACRO spark_listed(x) AS CASE WHEN typeof(x) = 'BLOB'
    AND spark_fail('listagg of BINARY needs Spark.') THEN '' ELSE spark_shown(x) END;
CREATE MACRO spark_bytes(x VARCHAR) AS encode(x), (x) AS x;
CREATE MACRO spark_fail_if(test, message) AS CASE WHEN test THEN spark_fail(message) END;
CREATE MACRO spark_json_member(x, k) AS CASE WHEN json_valid(x) THEN json_extract_string(x,
    '$."' || k || '"') END;
CREATE MACRO spark_windows(t, size, slide, start) AS list_transform(
    range(((epoch_us(t) - start) % slide + slide) % slide, size, slide), lambda o : {
    'start': t - to_microseconds(o), 'end': t - to_microseconds(o) + to_microseconds(size)});
CREATE MACRO spark.conv(x, a, b) AS spark_conv(CAST(x AS VARCHAR), a, b);
CREATE MACRO spark.format_number(x, n) AS CASE WHEN typeof(n) = 'VARCHAR'
    THEN spark_format_by_pattern(CAST(x AS VARCHAR), CAST(n AS VARCHAR)) ELSE spark_format_number(
    CAST(x AS VARCHAR), TRY_CAST(n AS INTEGER), typeof(x) IN ('DOUBLE', 'FLOAT')) END;
CREATE MACRO spark.mask(x, u := 'X', l := 'x', d := 'n', o := NULL) AS
    spark_mask(CAST(x AS VARCHAR), u, l, d, o);
CREATE MACRO spark.parse_url(x, part) AS spark_parse_url(x, part, NULL),
    (x, part, k) AS spark_parse_url(x, part, k);
CREATE MACRO spark.try_url_decode(x) AS CASE WHEN NOT regexp_matches(x,
    '%(.?$|[^0-9A-Fa-f]|.[^0-9A-Fa-f])') THEN url_decode(replace(x, '+', ' ')) END;
CREATE MACRO spark.quote(x) AS '''' || replace(x, '''', '\''') || '''';
CREATE MACRO spark.randn() AS sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random()),
    (seed) AS sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random());
CREATE MACRO spark.spark_partition_id() AS CAST(0 AS INTEGER);
CREATE MACRO spark.vector_cosine_similarity(a, b) AS
    CAST(list_cosine_similarity(CAST(a AS DOUBLE[]), CAST(b AS DOUBLE[])) AS FLOAT);
CREATE MACRO spark.vector_inner_product(a, b) AS
    CAST(list_inner_product(CAST(a AS DOUBLE[]), CAST(b AS DOUBLE[])) AS FLOAT);
CREATE MACRO spark.vector_l2_distance(a, b) AS
    CAST(list_distance(CAST(a AS DOUBLE[]), CAST(b AS DOUBLE[])) AS FLOAT);
CREATE MACRO spark.url_decode(x) AS url_decode(replace(x, '+', ' '));
CREATE MACRO spark.url_encode(x) AS
    replace(replace(replace(url_encode(x), '%20', '+'), '%2A', '*'), '~', '%7E');
CREATE MACRO spark_split(x, p, n) AS CASE WHEN x IS NULL OR p IS NULL THEN NULL WHEN x = '' THEN [''] WHEN n <= 0 THEN string_split_regex(x, p)
    WHEN spark_fail_if(p = '', 'split with a limit and an empty pattern needs Spark.') THEN NULL
    WHEN len(string_split_regex(x, p)) <= n THEN string_split_regex(x, p)
    ELSE list_append(list_slice(string_split_regex(x, p), 1, n - 1), substr(x, 1 + length(
    array_to_string(list_slice(string_split_regex(x, p), 1, n - 1), '') || array_to_string(
    list_slice(regexp_extract_all(x, p), 1, n - 1), '')))) END;
CREATE MACRO spark.split(x, p) AS CASE WHEN p IS NULL THEN NULL WHEN spark_shown(x) = '' THEN ['']
    ELSE string_split_regex(spark_shown(x), p) END,
    (x, p, n) AS spark_split(spark_shown(x), p, n);
