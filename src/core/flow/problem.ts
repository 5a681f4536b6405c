/** One thing that is wrong with a flow: an error keeps it from being shown, a warning does not. */
export interface FlowProblem {
  severity: 'error' | 'warning'
  code: string
  /** JSON pointer within the flow; the field may be one that the flow lacks and should have. */
  path: string
  /** One sentence that says what to do. It shows at most 60 characters of the flow's own text. */
  message: string
}

export const error = (code: string, path: string, message: string): FlowProblem => ({
  severity: 'error',
  code,
  path,
  message,
})

export const warning = (code: string, path: string, message: string): FlowProblem => ({
  severity: 'warning',
  code,
  path,
  message,
})
