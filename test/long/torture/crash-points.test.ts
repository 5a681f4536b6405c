import { testParts } from './parts.ts'

testParts(['failpoints', 'powercut'])
