/**
 * Elysia decides at its import whether it runs in production, so this module is imported before anything
 * else. Not written as `process.env.NODE_ENV`, because the build puts a constant in its place.
 */
const { env } = process
env.NODE_ENV ??= 'production'
