import { z } from 'zod'
import { consoleRoles } from '../console-roles.ts'
import { emailText, nameText } from './fields.ts'

/* Schemas of `/v1/ui/users`: the users of the provider's console. */

const role = z.enum(consoleRoles)

export const consoleUserInviteSchema = z.object({
  email: emailText,
  name: nameText.optional(),
  role,
})

export const consoleUserUpdateSchema = z.object({
  name: nameText.optional(),
  role: role.optional(),
})

export const consoleUserSchema = z.object({
  userId: z.string(),
  email: z.string(),
  name: z.string().optional(),
  role,
  /** `invited` until the user has set a password, or signed in with an account of the company. */
  status: z.enum(['invited', 'active']),
  createdAt: z.string(),
})

export type ConsoleUserBody = z.infer<typeof consoleUserSchema>

export const consoleUsersResponseSchema = z.object({ users: z.array(consoleUserSchema) })

/** The link sets the user's password once. It is returned only here, since no email is sent. */
export const passwordLinkSchema = z.object({
  user: consoleUserSchema,
  passwordLink: z.object({ url: z.string(), expiresAt: z.string() }),
})

export const consoleUserRemovedSchema = z.object({ success: z.literal(true) })
