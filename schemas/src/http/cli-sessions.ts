import { z } from 'zod'
import { environments } from '../environment.ts'

/*
 * Schemas of `/v1/ui/provider/auth/cli-init/sessions`, with which a command line gets a key from a user who is signed in to the
 * console.
 */

export const cliSessionOpenedSchema = z.object({
  sessionId: z.string(),
  /** Address to open in a browser. */
  authUrl: z.string(),
  /** Bearer token with which the command line fetches the key. */
  pollToken: z.string(),
  /** The page at `authUrl` shows the same code. The client shows it as well, so that its user can compare them. */
  userCode: z.string(),
})

export const cliSessionCompleteSchema = z.object({
  /** Environment of the key. */
  environment: z.enum(environments),
})

export const cliSessionAnsweredSchema = z.object({ success: z.literal(true) })

/** The client polls every 2 s, for at most 10 minutes. */
export const cliSessionExchangeSchema = z.object({
  status: z.enum(['pending', 'complete', 'expired', 'cancelled']),
  /** The secret is returned only once. */
  secretKey: z.string().optional(),
  email: z.string().optional(),
  environment: z.enum(environments).optional(),
  warning: z.string().optional(),
})

export type CliSessionExchangeBody = z.infer<typeof cliSessionExchangeSchema>
