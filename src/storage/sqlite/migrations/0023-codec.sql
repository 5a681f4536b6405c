-- The form in which a row's events are written, so that another one leaves rows of before as they are.
alter table event_batches add column codec integer not null default 1;
