-- Numbers that are released changed: with noise, or rounded. What noise is drawn from is a hash
-- that the caller has made with a key of the installation; no key comes here.

create function anondb.noisy(value numeric, hash bytea, deviation numeric, digits int,
                             relative numeric, lowest numeric, highest numeric) returns numeric
language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
-- Box and Muller 1958: a normal draw of two uniform ones, of 48 bits each. What lies beyond the
-- bounds of a type goes to the other side.
declare
    v_radius double precision;
    v_angle double precision;
    v_noise numeric;
    v_least numeric;
    v_changed numeric;
begin
    if value is null or value in ('NaN', 'Infinity', '-Infinity') then
        return null;
    end if;
    v_radius := (('x' || encode(substring(hash, 1, 6), 'hex'))::bit(48)::bigint + 1) / 2.0 ^ 48;
    v_angle := ('x' || encode(substring(hash, 7, 6), 'hex'))::bit(48)::bigint / 2.0 ^ 48;
    v_noise := round(
        (sqrt(-2 * ln(v_radius)) * cos(2 * pi() * v_angle))::numeric * deviation, digits);
    v_least := greatest(1 / 10::numeric ^ digits, abs(value) * relative);
    if abs(v_noise) < v_least then
        v_noise := case when v_angle between 0.25 and 0.75 then -v_least else v_least end;
    end if;
    v_changed := value + v_noise;
    if v_changed < lowest or v_changed > highest then
        v_changed := least(greatest(value - v_noise, lowest), highest);
    end if;
    return case when relative = 0 then round(v_changed, digits) else v_changed end;
end $$;
comment on function anondb.noisy(numeric, bytea, numeric, int, numeric, numeric, numeric) is
'A number with normal noise of this standard deviation, drawn by a hash, rounded to its digits, '
'and never 0: at least one unit of the last digit, or this part of the value. NULL of NULL and of '
'what is not finite. Between the bounds, where there are any.';

create function anondb.rounded(value numeric, step numeric, lowest numeric, highest numeric)
returns numeric
language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
declare
    v_rounded numeric := round(value / step) * step;
begin
    if v_rounded > highest then
        return v_rounded - step;
    elsif v_rounded < lowest then
        return v_rounded + step;
    end if;
    return v_rounded;
end $$;
comment on function anondb.rounded(numeric, numeric, numeric, numeric) is
'The multiple of a step that is nearest to a number, of two the one farther from 0; between the '
'bounds, where there are any.';
