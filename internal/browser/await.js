new Promise((done) => {
	const look = () => { try { return Boolean(EXPRESSION) } catch { return false } };
	const start = () => {
		if (look()) return done(true);
		const end = (result) => { seen.disconnect(); clearInterval(ticks); done(result); };
		const again = () => { if (look()) end(true); };
		const seen = new MutationObserver(again), ticks = setInterval(again, 100);
		seen.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
		setTimeout(() => end(look()), 20000);
	};
	document.readyState === "loading" ? addEventListener("DOMContentLoaded", start) : start();
})
