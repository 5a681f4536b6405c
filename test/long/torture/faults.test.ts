import { faults } from '../../../scripts/torture/faults.ts'
import { testFaults } from './short-form.ts'

// The others have files of their own, which run beside this one.
testFaults(Object.keys(faults).filter(name => !/^(failpoints|powercut|cluster)$/.test(name)))
