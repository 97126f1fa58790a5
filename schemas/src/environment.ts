/** The two worlds of a provider. A secret key belongs to exactly one of them, and nothing crosses over. */
export const environments = ['sandbox', 'live'] as const

export type Environment = (typeof environments)[number]
