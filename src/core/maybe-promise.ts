/** What is there at once, or has to be waited for. */
export type MaybePromise<T> = T | Promise<T>

/** Goes on with a value, in this very turn where there is nothing to wait for: a turn costs a request much. */
export const afterwards = <T, Next>(
  value: MaybePromise<T>,
  next: (value: T) => MaybePromise<Next>,
): MaybePromise<Next> => (value instanceof Promise ? value.then(next) : next(value))
