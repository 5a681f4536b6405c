import { expect, test } from 'bun:test'
import { cpuMsOf, familyCpuMsOf } from '../../scripts/support/process.ts'
import { until } from '../../scripts/support/until.ts'

const work = 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'

test.each([
  ['that has ended', `sh -c '${work}'; sleep 60`],
  ['that goes on', `sh -c '${work}; sleep 60'; true`],
])('the CPU of a family includes that of a child %s', async (_, script) => {
  const { pid } = Bun.spawn(['setsid', 'sh', '-c', script])
  try {
    await until(() => familyCpuMsOf(pid) > cpuMsOf(pid) + 50)
    expect(cpuMsOf(pid)).toBeLessThan(50)
  } finally {
    process.kill(-pid, 'SIGKILL')
  }
})
