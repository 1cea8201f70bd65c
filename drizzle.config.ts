import { defineConfig } from 'drizzle-kit'

/** `npm run migrations` compares the schema with the last migration and writes the next one. */
export default defineConfig({
  dialect: 'sqlite',
  schema: './src/store/schema.ts',
  out: './src/store/migrations',
})
