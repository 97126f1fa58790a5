/** The two environments of a provider. A secret key belongs to exactly one of them, and no data is shared between them. */
export const environments = ['sandbox', 'live'] as const

export type Environment = (typeof environments)[number]
