import type { Failure } from '../api/failure.ts'
import { Rejection } from '../parts/rejection.tsx'

/** Why an action without a dialog was rejected. */
export const Refused = ({ of }: { of: Failure | null }) => <Rejection failure={of} />
