import type { Answer } from '../api/answers.ts'

export type Overview = Answer<'getOverview'>
export type Numbers = Overview['total']
