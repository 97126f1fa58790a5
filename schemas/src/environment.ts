/** The two environments of a provider. A secret key belongs to exactly one of them, and no data is shared between them. */
export const environments = ['sandbox', 'live'] as const

export type Environment = (typeof environments)[number]

/** Returns the environment with the name, or undefined if there is none. */
export function environmentNamed(name: unknown): Environment | undefined {
  return environments.find((each) => each === name)
}

/** Header with which the console names the environment of a request. */
export const environmentHeader = 'tollgate-environment'

/** Header with which the console names the user for whom a page was loaded. */
export const userHeader = 'tollgate-user'
