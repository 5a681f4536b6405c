-- The IANA zone whose days the dashboard shows where its address names none; null for the browser's.
alter table organisations add column timezone text;
