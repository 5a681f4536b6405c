import { testFaults } from './short-form.ts'

testFaults(['failpoints', 'powercut'])
