import { faults } from '../../../scripts/torture/faults.ts'
import { testFaults } from './short-form.ts'

// The other faults have files of their own, which run in parallel.
testFaults(Object.keys(faults).filter(name => !/^(failpoints|powercut|cluster)$/.test(name)))
