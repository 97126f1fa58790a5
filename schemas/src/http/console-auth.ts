import { z } from 'zod'
import { consoleRoles } from '../console-roles.ts'
import { environments } from '../environment.ts'
import { passwordCharsMax, passwordCharsMin } from '../limits.ts'
import { emailText, optionalReference, requiredReference } from './fields.ts'

/* `/v1/ui/auth/...`: how people come into the console. */

const environment = z.enum(environments)

/** What somebody gives as a password; whether it is one is found out by comparing. */
const givenPassword = z.string().min(1).max(passwordCharsMax)

const newPassword = z
  .string()
  .min(passwordCharsMin, { error: `At least ${passwordCharsMin} characters` })
  .max(passwordCharsMax)

export const signInSchema = z.object({
  email: emailText,
  password: givenPassword,
  environment: environment.default('sandbox'),
  /** Which one, for people who sign in to several with the same password. */
  providerId: optionalReference.optional(),
})

const providerChoiceSchema = z.object({ providerId: z.string(), name: z.string() })

/** Who is signed in, and where. */
const whoFields = {
  user: z.object({
    userId: z.string(),
    email: z.string(),
    name: z.string().optional(),
    role: z.enum(consoleRoles),
  }),
  provider: providerChoiceSchema,
  environment,
  /** The access token is refused from then on. */
  expiresAt: z.string(),
}

export const signedInSchema = z.object({
  status: z.literal('signed_in'),
  accessToken: z.string(),
  ...whoFields,
})

export type SignedInBody = z.infer<typeof signedInSchema>

export const signInResponseSchema = z.discriminatedUnion('status', [
  signedInSchema,
  z.object({ status: z.literal('choose_provider'), providers: z.array(providerChoiceSchema) }),
])

export const signedInUserSchema = z.object(whoFields)

export type SignedInUserBody = z.infer<typeof signedInUserSchema>

export const environmentSwitchSchema = z.object({ environment })

/** With the token of a one-time link. */
export const passwordSetSchema = z.object({ token: requiredReference, password: newPassword })

export const passwordSetResponseSchema = z.object({ success: z.literal(true), email: z.string() })

export const passwordChangeSchema = z.object({
  currentPassword: givenPassword,
  newPassword,
})

export const signedOutSchema = z.object({ success: z.literal(true) })
