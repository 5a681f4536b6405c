-- Which of the traits that pages say of people are counted by: a JSON array of names.
alter table organisations add column traits text not null default '[]';

-- What was said of those traits when the run started: the time of it, fifteen digits, and a JSON object.
alter table runs add column traits text;
