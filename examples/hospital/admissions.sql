-- 5,000 invented admissions to a hospital, and a schema to share their release in. Each value is drawn by
-- a hash of the row's number and the column's name, so that every machine makes the same table.

create schema if not exists hospital;
create schema if not exists share;

create table if not exists hospital.admissions (
    name text, age int, sex text, zip text, job text, admitted date, diagnosis text
);
comment on table hospital.admissions is 'Invented persons, made by anondb demo.';

with draw as (
    select i,
           (hashtextextended('age', i) & 65535) / 65536.0 as age1,
           (hashtextextended('age again', i) & 65535) / 65536.0 as age2,
           (hashtextextended('sex', i) & 65535) / 65536.0 as sex,
           (hashtextextended('zip', i) & 65535) / 65536.0 as zip1,
           (hashtextextended('zip again', i) & 65535) / 65536.0 as zip2,
           (hashtextextended('job', i) & 65535) / 65536.0 as job,
           (hashtextextended('day', i) & 65535) / 65536.0 as day,
           (hashtextextended('diagnosis', i) & 65535) / 65536.0 as diagnosis,
           (hashtextextended('given', i) & 65535) / 65536.0 as given,
           (hashtextextended('family', i) & 65535) / 65536.0 as family
    from generate_series(1, 5000) as i
), person as (
    select d.*, (17 + 75 * (d.age1 + d.age2) / 2)::int as years, d.sex < 0.52 as female
    from draw as d
)
insert into hospital.admissions
select (case when p.female
             then array['Mary', 'Anna', 'Emma', 'Sofia', 'Laura', 'Clara', 'Julia', 'Nora', 'Eva', 'Ruth']
             else array['John', 'Paul', 'Liam', 'Noah', 'Peter', 'Karl', 'Hugo', 'Erik', 'Adam', 'Leon'] end
       )[1 + floor(10 * p.given)::int]
       || ' ' ||
       (array['Murphy', 'Kelly', 'Byrne', 'Ryan', 'Walsh', 'Smith', 'Keller', 'Meyer', 'Novak', 'Rossi',
              'Silva', 'Lopez', 'Dubois', 'Berg', 'Lund'])[1 + floor(15 * p.family)::int],
       p.years,
       case when p.female then 'female' else 'male' end,
       -- most live near the hospital: few first digits, many last ones
       (array['471', '471', '471', '472', '472', '479'])[1 + floor(6 * p.zip1)::int]
       || lpad(floor(40 * p.zip2)::int::text, 2, '0'),
       case when p.years >= 67 then 'Retired'
            when p.years <= 22 then (array['Student', 'Student', 'Shop assistant', 'Unemployed']
                                    )[1 + floor(4 * p.job)::int]
            else (array['Nurse', 'Nurse', 'Surgeon', 'Pharmacist', 'Teacher', 'Teacher', 'Professor',
                        'Shop assistant', 'Shop assistant', 'Estate agent', 'Electrician', 'Bricklayer',
                        'Plumber', 'Machine operator', 'Welder', 'Software developer', 'Data analyst',
                        'Accountant', 'Bank clerk', 'Unemployed'])[1 + floor(20 * p.job)::int] end,
       date '2024-01-01' + floor(366 * p.day)::int,
       case when p.years > 60
            then (array['Heart failure', 'Stroke', 'Hip fracture', 'Cataract', 'Pneumonia', 'Diabetes']
                 )[1 + floor(6 * p.diagnosis)::int]
            else (array['Appendicitis', 'Asthma', 'Migraine', 'Fracture', 'Influenza', 'Diabetes', 'Gastritis']
                 )[1 + floor(7 * p.diagnosis)::int] end
from person as p
where not exists (select from hospital.admissions);
