export default { build: { rollupOptions: { input: ['index.html', 'own.html'] } } }
