window.heard = [];
addEventListener("error", (event) => heard.push("error: " + event.message));
addEventListener("unhandledrejection", (event) => heard.push("rejected: " + event.reason));
addEventListener("securitypolicyviolation", (event) => heard.push("against the policy: " + event.blockedURI));
for (const name of ["error", "warn"]) console[name] = (...words) => heard.push(name + ": " + words.join(" "));
window.alert = () => heard.push("alert");
