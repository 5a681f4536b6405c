-- wrk's script for POST /events: realistic batches, every id new.
-- Environment: BENCH_KEYS (file: "key flow step step step" a line), BENCH_BATCH, BENCH_IDS (v7 or v4),
-- BENCH_NONCE (tells this run's ids from all others), BENCH_PATH.
local batch = tonumber(os.getenv("BENCH_BATCH") or "50")
local ids = os.getenv("BENCH_IDS") or "v7"
local nonce = tonumber(os.getenv("BENCH_NONCE") or "1")
local path = os.getenv("BENCH_PATH") or "/api/v1/events"
local orgs = {}
for line in io.lines(os.getenv("BENCH_KEYS")) do
  local org = {}
  for word in line:gmatch("%S+") do org[#org + 1] = word end
  orgs[#orgs + 1] = org
end

local threads = 0
function setup(thread)
  thread:set("number", threads)
  threads = threads + 1
end

local count, run, at
local kinds = { "flow_started", "step_viewed", "step_completed", "step_viewed", "flow_completed" }

function init()
  math.randomseed(nonce * 1000 + number)
  count, run = 0, 0
  at = os.date("!%Y-%m-%dT%H:%M:%S.000Z", os.time() - 5)
end

local function id()
  count = count + 1
  if ids == "v4" then
    return string.format("%08x-%04x-4%03x-8%03x-%06x%06x", math.random(0, 2 ^ 31 - 1), math.random(0, 65535),
      math.random(0, 4095), math.random(0, 4095), math.random(0, 2 ^ 24 - 1), count % 2 ^ 24)
  end
  return string.format("%08x-%04x-7%03x-8%03x-%06x%06x", nonce, math.floor(count / 4096) % 65536, count % 4096,
    number, 0, count % 2 ^ 24)
end

function request()
  local org = orgs[(run + number * 37) % #orgs + 1]
  local parts = {}
  for i = 1, batch do
    local k = (i - 1) % 5 + 1
    if k == 1 then run = run + 1 end
    local step = (k == 2 or k == 3) and org[3] or k == 4 and org[4]
    parts[i] = string.format(
      '{"id":"%s","kind":"%s","userId":"user-%d","flowId":"%s",%s"flowVersion":1,"runId":"run-%d-%d-%d",' ..
      '"sessionId":"sess-%d-%d","occurredAt":"%s","url":"https://app.example.com/projects/%d",' ..
      '"properties":{"plan":"pro","seats":%d,"locale":"en-GB"}}',
      id(), kinds[k], run % 50000, org[2], step and '"stepId":"' .. step .. '",' or "", nonce, number, run,
      number, run, at, run % 900, i)
  end
  local body = '{"sentAt":"' .. os.date("!%Y-%m-%dT%H:%M:%S.000Z") .. '","events":[' .. table.concat(parts, ",") .. "]}"
  return wrk.format("POST", path, {
    ["Authorization"] = "Bearer " .. org[1],
    ["Content-Type"] = "application/json",
  }, body)
end

local refused = 0
function response(status)
  if status ~= 202 then refused = refused + 1 end
end

function done(summary, latency)
  io.write(string.format("JSON {\"requests\":%d,\"seconds\":%f,\"p50\":%f,\"p99\":%f,\"errors\":%d}\n",
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1000, latency:percentile(99) / 1000,
    summary.errors.status + summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout))
end
