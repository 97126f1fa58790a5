import { z } from 'zod'
import { environments } from '../environment.ts'

/* `/v1/ui/provider/auth/cli-init/sessions`: how a command line gets a key from somebody who is signed in to the console. */

export const cliSessionOpenedSchema = z.object({
  sessionId: z.string(),
  /** To be opened in a browser. */
  authUrl: z.string(),
  /** The bearer token that the key is fetched with. */
  pollToken: z.string(),
  /** The page of `authUrl` shows the same code. A client shows it, so that its user can compare. */
  userCode: z.string(),
})

export const cliSessionCompleteSchema = z.object({
  /** Of the key. */
  environment: z.enum(environments),
})

export const cliSessionAnsweredSchema = z.object({ success: z.literal(true) })

/** To be asked every two seconds, for ten minutes at most. */
export const cliSessionExchangeSchema = z.object({
  status: z.enum(['pending', 'complete', 'expired', 'cancelled']),
  /** Told once. */
  secretKey: z.string().optional(),
  email: z.string().optional(),
  environment: z.enum(environments).optional(),
  warning: z.string().optional(),
})

export type CliSessionExchangeBody = z.infer<typeof cliSessionExchangeSchema>
