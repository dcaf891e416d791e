-- The admissions as patients with a number, and visits of theirs, invented from the numbers alone.
create table hospital.patients as
select row_number() over (
           order by a.name collate "C", a.age, a.zip, a.job, a.admitted, a.diagnosis)::int as patient_id,
       a.name, a.age, a.sex, a.zip
from hospital.admissions as a;
alter table hospital.patients add primary key (patient_id);

create table hospital.visits as
select row_number() over (order by d.patient_id, d.n)::int as visit_id, d.patient_id,
       date '2024-01-01' + d.dice % 366 as visited,
       w.wards[1 + d.dice / 366 % 5] as ward,
       w.diagnoses[1 + d.dice / 366 % 5][1 + d.dice / 1830 % 3] as diagnosis
from (select p.patient_id, v.n,
             ('x' || substr(md5(p.patient_id || ' ' || v.n), 1, 6))::bit(24)::int as dice
      from hospital.patients as p
      cross join lateral generate_series(
          1, ('x' || substr(md5('visits of ' || p.patient_id), 1, 2))::bit(8)::int % 5) as v (n)) as d
cross join (select array['surgery', 'cardiology', 'pulmonology', 'neurology', 'gastroenterology'] as wards,
                   array[array['fracture', 'appendicitis', 'hernia'],
                         array['angina', 'arrhythmia', 'heart failure'],
                         array['asthma', 'pneumonia', 'bronchitis'],
                         array['migraine', 'epilepsy', 'stroke'],
                         array['gastritis', 'ulcer', 'colitis']] as diagnoses) as w;
alter table hospital.visits add primary key (visit_id), add foreign key (patient_id) references hospital.patients;
comment on table hospital.visits is 'Invented visits, made by anondb demo.';
