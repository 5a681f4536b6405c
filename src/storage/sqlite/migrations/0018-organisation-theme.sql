-- How the organisation's flows look unless they say otherwise: a JSON object; null where nothing is set.
alter table organisations add column theme text;
