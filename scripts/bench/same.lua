-- wrk's script for one request again and again: tells what was seen, as JSON.
--
-- Environment: BENCH_PAUSE (milliseconds between an answer and the next request of its connection,
-- where the load is to be light), BENCH_BODY (makes it a POST of that JSON).
local pause = tonumber(os.getenv("BENCH_PAUSE") or "0")
local body = os.getenv("BENCH_BODY")

if body then
  wrk.method = "POST"
  wrk.body = body
  wrk.headers["Content-Type"] = "application/json"
end

if pause > 0 then
  function delay() return pause end
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format('JSON {"requests":%d,"seconds":%f,"p50Ms":%f,"p99Ms":%f,"maxMs":%f,"errors":%d}\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1000, latency:percentile(99) / 1000, latency.max / 1000,
    errors.status + errors.connect + errors.read + errors.write + errors.timeout))
end
