import type { Answer } from '../api/answers.ts'

export type Member = Answer<'listUsers'>['users'][number]
