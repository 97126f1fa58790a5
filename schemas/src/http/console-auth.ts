import { z } from 'zod'
import { consoleRoles } from '../console-roles.ts'
import { environments } from '../environment.ts'
import { passwordCharsMax, passwordCharsMin } from '../limits.ts'
import { emailText, optionalReference, requiredReference } from './fields.ts'

/* Schemas of `/v1/ui/auth/...`: sign-in to the console. */

const environment = z.enum(environments)

/** A password that is compared with the stored one. Only its length is bounded. */
const givenPassword = z.string().min(1).max(passwordCharsMax)

const newPassword = z
  .string()
  .min(passwordCharsMin, { error: `At least ${passwordCharsMin} characters` })
  .max(passwordCharsMax)

export const signInSchema = z.object({
  email: emailText,
  password: givenPassword,
  environment: environment.default('sandbox'),
  /** The provider, for users who sign in to several with the same password. */
  providerId: optionalReference.optional(),
})

const providerChoiceSchema = z.object({ providerId: z.string(), name: z.string() })

/** The signed-in user and the place of the session. */
const signedInFields = {
  user: z.object({
    userId: z.string(),
    email: z.string(),
    name: z.string().optional(),
    role: z.enum(consoleRoles),
  }),
  provider: providerChoiceSchema.extend({
    /** Whether the live environment is open to the provider. */
    isLive: z.boolean(),
  }),
  environment,
  /** The access token is refused after this time. */
  expiresAt: z.string(),
}

export const signedInSchema = z.object({
  status: z.literal('signed_in'),
  accessToken: z.string(),
  ...signedInFields,
})

export type SignedInBody = z.infer<typeof signedInSchema>

export const signInResponseSchema = z.discriminatedUnion('status', [
  signedInSchema,
  z.object({ status: z.literal('choose_provider'), providers: z.array(providerChoiceSchema) }),
])

export const signedInUserSchema = z.object(signedInFields)

export type SignedInUserBody = z.infer<typeof signedInUserSchema>

export const environmentSwitchSchema = z.object({ environment })

/** Sets a password with the token of a one-time link. */
export const passwordSetSchema = z.object({ token: requiredReference, password: newPassword })

export const passwordSetResponseSchema = z.object({ success: z.literal(true), email: z.string() })

export const passwordChangeSchema = z.object({
  currentPassword: givenPassword,
  newPassword,
})

export const signedOutSchema = z.object({ success: z.literal(true) })
