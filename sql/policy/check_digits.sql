-- Check digits, as the standards define them: they tell a number of a person from any other number.

create function anondb.check_digits_hold(value text, scheme text, weights int[] = '{}')
returns boolean
language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
declare
    v_text text := upper(regexp_replace(value, '[^[:alnum:]]', '', 'g'));
    v_digits int[] := array(select d::int from regexp_split_to_table(
        regexp_replace(v_text, '[^0-9]', '', 'g'), '') as d where d <> '');
    v_carry int := 0;
    v_digit int;
begin
    case scheme
    when 'luhn' then  -- ISO/IEC 7812: every second digit from the right counts twice
        return (select sum(case when (cardinality(v_digits) - d.place) % 2 = 0 then d.digit
                                else d.digit * 2 - case when d.digit > 4 then 9 else 0 end
                           end) % 10
                from unnest(v_digits) with ordinality as d (digit, place)) = 0;
    when 'weighted' then  -- the last weight is the modulus
        return cardinality(v_digits) = cardinality(weights) - 1
           and (select sum(d.digit * weights[d.place]) % weights[cardinality(weights)]
                from unnest(v_digits) with ordinality as d (digit, place)) = 0;
    when 'remainder' then  -- the last weight is the modulus; of a negative one what misses to it
        return cardinality(v_digits) = cardinality(weights)
           and (select case when weights[cardinality(weights)] > 0
                            then (s.total % s.modulus + s.modulus) % s.modulus % 10
                            else (s.modulus - s.total % s.modulus) % 10 end
                from (select sum(d.digit * weights[d.place]) as total,
                             abs(weights[cardinality(weights)]) as modulus
                      from unnest(v_digits) with ordinality as d (digit, place)
                      where d.place < cardinality(weights)) as s) = v_digits[cardinality(v_digits)];
    when 'verhoeff' then  -- Verhoeff 1969: products and permutations of the dihedral group D5
        for v_digit in
            select substr('012345678915762830945803796142891604352794531268704286573901'
                          '27938064157046913258',
                          ((v.place - 1) % 8 * 10 + v.digit + 1)::int, 1)::int
            from (select d.digit, cardinality(v_digits) - d.place + 1 as place
                  from unnest(v_digits) with ordinality as d (digit, place)) as v order by v.place
        loop
            v_carry := substr('012345678912340678952340178956340128956740123956785987604321'
                              '6598710432765982104387659321049876543210',
                              v_carry * 10 + v_digit + 1, 1)::int;
        end loop;
        return v_carry = 0 and cardinality(v_digits) > 0;
    when 'letter31' then  -- the letter of the remainder of all digits but the last sign
        return right(v_text, 1) = substr('0123456789ABCDEFHJKLMNPRSTUVWXY', (
            nullif(regexp_replace(left(v_text, -1), '[^0-9]', '', 'g'), '')::numeric % 31)::int
            + 1, 1);
    when 'codice_fiscale' then  -- signs in odd places have values of their own
        return length(v_text) = 16 and v_text ~ '^[0-9A-Z]+$' and right(v_text, 1) = chr(65 + (
            select (sum(case when c.place % 2 = 0 then c.value
                             else (array[1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6,
                                         8, 12, 14, 16, 10, 22, 25, 24, 23])[c.value + 1] end)
                    % 26)::int
            from (select p.place, case when p.sign ~ '[0-9]' then p.sign::int
                                       else ascii(p.sign) - 65 end as value
                  from regexp_split_to_table(left(v_text, 15), '') with ordinality
                       as p (sign, place)) as c));
    when 'iban' then  -- ISO 7064 mod 97-10: the first four characters go last, letters are 10 to 35
        for v_digit in
            select case when c between '0' and '9' then c::int else ascii(c) - 55 end
            from regexp_split_to_table(substr(v_text, 5) || left(v_text, 4), '') as c
        loop
            v_carry := (v_carry * case when v_digit > 9 then 100 else 10 end + v_digit) % 97;
        end loop;
        return v_carry = 1;
    when 'key97' then  -- the last two digits are 97 less the remainder of the others
        return cardinality(v_digits) > 2
           and 97 - (left(array_to_string(v_digits, ''), -2)::numeric % 97)
               = right(array_to_string(v_digits, ''), 2)::numeric;
    when 'mod11_10' then  -- ISO 7064 mod 11, 10
        v_carry := 5;
        foreach v_digit in array v_digits loop
            v_carry := (coalesce(nullif(v_carry, 0), 10) * 2 % 11 + v_digit) % 10;
        end loop;
        return v_carry = 1;
    when 'mod11_2' then  -- ISO 7064 mod 11-2: a check character X counts ten
        for v_digit in
            select case when c = 'X' then 10 else c::int end
            from regexp_split_to_table(regexp_replace(v_text, '[^0-9X]', '', 'g'), '') as c
            where c <> ''
        loop
            v_carry := (v_carry * 2 + v_digit) % 11;
        end loop;
        return v_carry = 1;
    when 'letter23' then  -- a last letter by the remainder; X, Y and Z in front are 0, 1 and 2
        return right(v_text, 1) = substr(
            'TRWAGMYFPDXBNJZSQVHLCKE',
            (nullif(regexp_replace(translate(left(v_text, -1), 'XYZ', '012'), '[^0-9]', '', 'g'),
                    '')::numeric % 23)::int + 1, 1);
    else
        return false;
    end case;
end $$;
comment on function anondb.check_digits_hold(text, text, int[]) is
'Whether a number has the check digits of a scheme: luhn, weighted and remainder (the weights '
'of its digits, then the modulus), verhoeff, iban, key97, mod11_10, mod11_2, letter23, letter31, '
'codice_fiscale. Other signs are ignored.';
