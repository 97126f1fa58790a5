export const portalEnglish = {
  yourPlans: 'Your plans',
} as const
