import { z } from 'zod'
import { shortText, storedInstantText } from './fields.ts'

/* Schemas of `/v1/ui/test-clocks`. */

export const testClockCreateSchema = z.object({
  /** The time at which the clock stands. At least 3 days ahead of real time. */
  frozenTime: storedInstantText,
  name: shortText.optional(),
})

export type TestClockCreateInput = z.infer<typeof testClockCreateSchema>

export const testClockAdvanceSchema = z.object({
  /** The time at which the clock stops again. */
  to: storedInstantText,
})

export const testClockStatuses = ['ready', 'advancing', 'paused', 'failed'] as const

export const testClockSchema = z.object({
  reference: z.string(),
  name: z.string().optional(),
  /** In `ready`, `paused` and `failed` the clock stands still. */
  status: z.enum(testClockStatuses),
  /** The time of the clock's customers. */
  frozenTime: z.string(),
  /** The last advance. Missing before the first one. */
  advance: z
    .object({
      from: z.string(),
      to: z.string(),
      /** Part of the time that has passed, from 0 to 1. */
      progress: z.number(),
    })
    .optional(),
  /** What failed. Only with the status `failed`. */
  failure: z.string().optional(),
  createdAt: z.string(),
  /** Real time at which the clock is deleted with its customers. It moves with the clock, up to its lifetime. */
  deletesAt: z.string(),
})

export type TestClockBody = z.infer<typeof testClockSchema>

/** Newest first. */
export const testClocksResponseSchema = z.object({ testClocks: z.array(testClockSchema) })

export const testClockDeletedSchema = z.object({ success: z.literal(true) })
