import { defineConfig } from 'drizzle-kit'

/** Writes the migrations: `npm run migrations` compares the schema with the last of them. */
export default defineConfig({
  dialect: 'sqlite',
  schema: './src/store/schema.ts',
  out: './src/store/migrations',
})
