import { faults } from '../../../scripts/torture/parts.ts'
import { testParts } from './parts.ts'

testParts(Object.keys(faults))
