import { testFaults } from './short-form.ts'

testFaults(['cluster'])
