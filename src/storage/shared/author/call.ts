/** A call to a method of what is kept in memory, as it travels between threads. */
export interface Call<Type extends string, State> {
  type: Type
  verb: Exclude<keyof State, 'expire' | 'held'>
  input: readonly unknown[]
}

/** Carries out a call. */
export function carryOut<State>(state: State, { verb, input }: Call<string, State>): unknown {
  const method = state[verb] as (...input: readonly unknown[]) => unknown
  return method.apply(state, [...input]) ?? null
}
